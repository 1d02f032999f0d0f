import EntitlementLedger
import Entitlements
import LedgerOperations

/// Sends what plans say to one address, some lanes at once: one that takes long holds up its customer, and
/// nobody else's messages.
struct WebhookRound: Sendable {
    private let client: WebhookClient
    private let clock: @Sendable () -> Instant
    private let tell: @Sendable (DeliveryPlan.Delivery, DeliveryAttempt, _ isGivenUp: Bool) -> Void
    /// Lanes of earlier plans that are sent still, by their numbers: they are kept as waiting.
    private var late: [Int: [DeliveryPlan.Delivery]] = [:]
    /// Lanes that were begun.
    private var laneCount = 0
    /// Waits that were begun, each of which has a number.
    private var waitCount = 0

    /// What ends while lanes are sent.
    enum Event: Sendable {
        case lane(Int, DeliveryResults)
        /// It was waited for long enough, by the wait's number.
        case patience(Int)
    }

    /// How long a plan's lanes are waited for before others are sent beside them.
    private static let patience = Duration.milliseconds(250)
    /// How many times as long lanes of a plan are begun: after that the webhook is looked at again, which may
    /// be disabled by now.
    private static let waitLimit = 20

    init(
        _ client: WebhookClient,
        clock: @escaping @Sendable () -> Instant,
        tell:
            @escaping @Sendable (DeliveryPlan.Delivery, DeliveryAttempt, _ isGivenUp: Bool) -> Void
    ) {
        self.client = client
        self.clock = clock
        self.tell = tell
    }

    /// Lanes that are sent still.
    var underWay: [[DeliveryPlan.Delivery]] { Array(late.values) }

    /// Sends a plan's lanes until all ended, or the others were waited for long enough.
    ///
    /// Lanes that were not begun by then, or before an answer that no message is wanted, wait as they were.
    ///
    /// - Returns: what became of those that ended, of this plan and of earlier ones; and those of this plan
    ///   that are sent still.
    mutating func carryOut(
        _ plan: DeliveryPlan,
        in group: inout TaskGroup<Event>
    ) async -> (results: DeliveryResults, late: [[DeliveryPlan.Delivery]]) {
        // Nobody would take from the group what a wait leaves in it.
        guard !plan.lanes.isEmpty else { return (DeliveryResults(), []) }
        var (results, own) = (DeliveryResults(), [Int: [DeliveryPlan.Delivery]]())
        var waiting = plan.lanes[...]
        func beginWhatHasRoom(_ group: inout TaskGroup<Event>) {
            while own.count + late.count < WebhookClient.connectionLimit,
                let lane = waiting.popFirst()
            {
                laneCount += 1
                own[laneCount] = lane
                begin(lane, laneCount, plan, &group)
            }
        }
        beginWhatHasRoom(&group)
        var (wait, waits) = (beginWait(in: &group), 1)
        while !own.isEmpty || !waiting.isEmpty, let event = await group.next() {
            switch event {
            case .lane(let number, let sent):
                let isLate = late.removeValue(forKey: number) != nil
                own.removeValue(forKey: number)
                results.add(isLate ? sent.ofKept : sent)
                if results.isGone {
                    results.postpone(waiting.joined())
                    waiting = []
                }
                beginWhatHasRoom(&group)
            case .patience(wait) where waiting.isEmpty || waits == Self.waitLimit:
                results.postpone(waiting.joined())
                late.merge(own) { first, _ in first }
                return (results, Array(own.values))
            case .patience(wait):
                waits += 1  // Fits: below the limit.
                wait = beginWait(in: &group)
            case .patience: break
            }
        }
        return (results, [])
    }

    /// Waits a moment for lanes that are sent still.
    mutating func waitForLate(in group: inout TaskGroup<Event>) async -> DeliveryResults {
        _ = beginWait(in: &group)
        guard case .lane(let number, let sent)? = await group.next() else {
            return DeliveryResults()
        }
        late.removeValue(forKey: number)
        return sent.ofKept
    }

    private mutating func beginWait(in group: inout TaskGroup<Event>) -> Int {
        waitCount += 1
        group.addTask { [waitCount] in
            // Who is cancelled waits no longer.
            try? await Task.sleep(for: Self.patience)
            return .patience(waitCount)
        }
        return waitCount
    }

    private func begin(
        _ lane: [DeliveryPlan.Delivery],
        _ number: Int,
        _ plan: DeliveryPlan,
        _ group: inout TaskGroup<Event>
    ) {
        let sender = WebhookLane(
            deliveries: lane,
            secrets: plan.secrets,
            client: client,
            clock: clock,
            tell: tell
        )
        group.addTask { .lane(number, await sender.results()) }
    }
}
