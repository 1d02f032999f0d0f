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

    /// What ends while lanes are sent.
    enum Event: Sendable {
        case lane(Int, DeliveryResults)
        /// What was begun up to a lane was waited for long enough.
        case patience(Int)
    }

    /// How long a plan's lanes are waited for before others are sent beside them.
    private static let patience = Duration.milliseconds(250)

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
    /// - Returns: what became of those that ended, of this plan and of earlier ones.
    mutating func carryOut(
        _ plan: DeliveryPlan,
        in group: inout TaskGroup<Event>
    ) async -> DeliveryResults {
        var (results, own) = (DeliveryResults(), [Int: [DeliveryPlan.Delivery]]())
        var waiting = plan.lanes[...]
        let first = laneCount
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
        Self.wait(first, in: &group)
        var isPatient = true
        while !waiting.isEmpty || (!own.isEmpty && isPatient) {
            switch await group.next() {
            case .lane(let number, let sent)?:
                let isLate = late.removeValue(forKey: number) != nil
                own.removeValue(forKey: number)
                results.add(isLate ? sent.ofKept : sent)
                beginWhatHasRoom(&group)
            case .patience(let number)?: if number == first { isPatient = false }
            case nil: return results
            }
        }
        late.merge(own) { first, _ in first }
        return results
    }

    /// Waits a moment for lanes that are sent still.
    mutating func waitForLate(in group: inout TaskGroup<Event>) async -> DeliveryResults {
        Self.wait(laneCount, in: &group)
        guard case .lane(let number, let sent)? = await group.next() else {
            return DeliveryResults()
        }
        late.removeValue(forKey: number)
        return sent.ofKept
    }

    private static func wait(_ number: Int, in group: inout TaskGroup<Event>) {
        group.addTask {
            // Who is cancelled waits no longer.
            try? await Task.sleep(for: patience)
            return .patience(number)
        }
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
