package import EntitlementLedger
package import Entitlements
import LMDBStorage
package import LedgerAPI

/// What is sent to a webhook next.
///
/// What is told of one customer stands in one lane, in its order; lanes may be sent at once. Behind one that
/// was not taken the rest of its lane waits, and nothing else.
package struct DeliveryPlan: Sendable {
    /// The webhook, as it stands.
    package var webhook: Webhook
    /// The secrets that sign now.
    package var secrets: [WebhookSecret] = []
    /// What may be sent at once.
    package var lanes: [[Delivery]] = []
    /// The first notice that is not in the plan.
    package var cursor: UInt64
    /// What is to be kept whatever becomes of the lanes: what waits behind others, and what is not wanted
    /// any more.
    private(set) var outcomes = DeliveryOutcomes()

    /// One message in a lane.
    package struct Delivery: Sendable {
        /// The notice's number.
        package var notice: UInt64
        /// How it stands.
        package var state: DeliveryState
        /// Whether it is kept as one that waits.
        package var isKept: Bool
        /// The type of what is told.
        package var type: String
        /// What is sent.
        package var message: WebhookMessage
    }

    /// Notices that one plan looks at.
    private static let noticeLimit = 64
    /// Lanes of deliveries that wait, beyond which nothing more is looked at.
    private static let laneLimit = 128
    /// Messages of one lane: what waits behind them comes once they are taken.
    fileprivate static let messageLimit = 64

    /// Whether there is something to be kept, whatever becomes of the lanes.
    package var isToBeKept: Bool { !outcomes.waiting.isEmpty || !outcomes.done.isEmpty }
    /// Whether a lane begins with what was never tried.
    var triesSomethingNew: Bool { lanes.contains { $0.first?.isKept == false } }
    /// Whether there is nothing to do now.
    package var isEmpty: Bool { lanes.isEmpty && !isToBeKept }

    /// Plans what comes next; nil: the webhook is gone, or is told of nothing.
    ///
    /// `cursor`: the first notice that was not looked at; nil: as it is kept. `underWay`: lanes that are
    /// sent still: what comes behind them waits. `bound`: how much may wait before nothing new is looked at.
    ///
    /// Cost: a read of each that waits, and of what each message says.
    package init?(
        of id: String,
        _ webhooks: Webhooks,
        from cursor: UInt64?,
        beside underWay: [[Delivery]] = [],
        within bound: WaitingBound = WaitingBound(),
        at now: Instant
    ) throws {
        guard let number = Webhooks.number(of: id),
            let bytes = try webhooks.store.endpoint(number),
            let webhook = try Webhooks.webhook(bytes), webhook.state == .enabled,
            let kept = try webhooks.store.cursor(of: number)
        else { return nil }
        self.webhook = webhook
        self.cursor = cursor ?? kept
        secrets = try webhooks.secrets(of: webhook, at: now)
        var lanes = Lanes(webhooks, beside: underWay)
        let waiting = try webhooks.store.waiting(for: number)
        for stored in waiting {
            guard lanes.count < Self.laneLimit else { break }
            guard let state = DeliveryState(stored.bytes) else { continue }
            try lanes.add(stored.notice, state, at: now)
        }
        // What waits and was not looked at comes before what is new.
        if waiting.count < bound.limit(at: now), lanes.count < Self.laneLimit {
            for stored in try webhooks.store.notices(from: self.cursor, limit: Self.noticeLimit) {
                self.cursor = stored.number + 1  // Fits: one at a time.
                guard let notice = Notice(stored.bytes), webhook.wants(notice) else { continue }
                try lanes.add(notice, stored.number)
            }
        }
        self.lanes = lanes.planned
        outcomes = lanes.outcomes
    }

    /// Lanes while they are made.
    private struct Lanes {
        private let webhooks: Webhooks
        private var lanes: [[Delivery]] = []
        /// The lane of a stream; nil: what is told of it waits.
        private var laneOf: [UInt64: Int?] = [:]
        private(set) var outcomes = DeliveryOutcomes()

        /// Notices that are sent still.
        private let underWay: Set<UInt64>

        init(_ webhooks: Webhooks, beside lanes: [[Delivery]]) {
            self.webhooks = webhooks
            let deliveries = lanes.joined()
            underWay = Set(deliveries.map(\.notice))
            for delivery in deliveries where !delivery.state.isResent {
                laneOf[delivery.state.stream] = .some(nil)
            }
        }

        /// Lanes that were begun.
        var count: Int { lanes.count }

        var planned: [[Delivery]] { lanes.filter { !$0.isEmpty } }

        /// Adds one that waits: the first of its stream is due at its time, the others behind it.
        mutating func add(_ number: UInt64, _ state: DeliveryState, at now: Instant) throws {
            guard !underWay.contains(number) else { return }
            let isDue = state.nextAt.map { $0 <= now } ?? true
            if state.isResent {
                guard isDue else { return }
                lanes.append([])
                return try add(number, state, to: lanes.count - 1)
            }
            if let lane = laneOf[state.stream] {
                if let lane { try add(number, state, to: lane) }
                return
            }
            guard isDue else {
                laneOf[state.stream] = .some(nil)
                return
            }
            lanes.append([])
            laneOf[state.stream] = lanes.count - 1
            try add(number, state, to: lanes.count - 1)
        }

        /// Adds one that waits to a lane; one whose notice is forgotten is not wanted any more.
        private mutating func add(_ number: UInt64, _ state: DeliveryState, to lane: Int) throws {
            guard let notice = try webhooks.store.notice(number).flatMap({ Notice($0.bytes) })
            else {
                outcomes.done.append(number)
                return
            }
            try add(notice, number, state, isKept: true, to: lane)
        }

        /// Adds what was not sent yet.
        mutating func add(_ notice: Notice, _ number: UInt64) throws {
            let state = DeliveryState(stream: notice.stream)
            switch laneOf[notice.stream] {
            case .none:
                lanes.append([])
                laneOf[notice.stream] = lanes.count - 1
                try add(notice, number, state, isKept: false, to: lanes.count - 1)
            case .some(let lane?): try add(notice, number, state, isKept: false, to: lane)
            case .some(nil):
                outcomes.waiting.append(StoredDelivery(notice: number, bytes: state.bytes))
            }
        }

        /// Adds a message to a lane; behind a lane that is full the rest of its stream waits.
        private mutating func add(
            _ notice: Notice,
            _ number: UInt64,
            _ state: DeliveryState,
            isKept: Bool,
            to lane: Int
        ) throws {
            guard let message = try WebhookMessage(notice, of: webhooks.ledger) else {
                // Whom it is about is erased.
                if isKept { outcomes.done.append(number) }
                return
            }
            lanes[lane].append(
                Delivery(
                    notice: number,
                    state: state,
                    isKept: isKept,
                    type: notice.type,
                    message: message
                )
            )
            if lanes[lane].count == DeliveryPlan.messageLimit { laneOf[state.stream] = .some(nil) }
        }
    }
}
