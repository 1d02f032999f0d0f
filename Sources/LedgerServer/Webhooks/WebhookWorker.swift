import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Logging

/// Delivers to one webhook until it is gone, or is told of nothing any more.
struct WebhookWorker: Sendable {
    let service: LedgerService
    let webhooks: Webhooks
    let id: String
    /// Tells that there may be something new; ends where the server stops.
    let wakes: AsyncStream<Void>

    /// How long what was taken is known in memory alone: whoever is stopped meanwhile sends it again.
    private static let saveInterval = Duration.milliseconds(250)
    /// How long nothing is tried after a fault of one's own.
    private static let restAfterFault = Duration.seconds(1)

    /// Where the worker stands.
    private struct Place {
        var cursor: UInt64?
        var bound = WaitingBound()
        var isSaved = true
        var savedAt = ContinuousClock.now
    }

    /// Delivers until the webhook is gone or disabled, or the server stops.
    func run() async {
        guard let client = await client() else { return }
        let counters = service.metrics.webhooks
        await withTaskGroup(of: WebhookRound.Event.self) { group in
            var round = WebhookRound(client, clock: service.clock) { _, attempt, isGivenUp in
                counters.count(attempt.isTaken ? .delivered : isGivenUp ? .dead : .failed)
            }
            var (place, wakes) = (Place(), wakes.makeAsyncIterator())
            while !Task.isCancelled {
                do {
                    guard let plan = try await plan(place, round.underWay) else {
                        try await save(place)
                        break
                    }
                    try await carryOut(plan, &round, &place, &group)
                    guard plan.isEmpty else { continue }
                    if !round.underWay.isEmpty {
                        let results = await round.waitForLate(in: &group)
                        place.bound.note(results, at: service.clock())
                        if results.isEmpty { continue }
                        try await service.blocking { [webhooks, id] in
                            try webhooks.keep(results, of: id)
                        }
                    } else if await wakes.next() == nil {
                        // It is woken every second, so that nothing that is due waits longer.
                        break
                    }
                } catch {
                    if Task.isCancelled { break }
                    // What became of the last plan may not be kept: it is sent again.
                    place = Place()
                    service.faults.note(error, of: JobBoard.Job.webhooks.rawValue)
                    // Who is cancelled ends with the next turn of the loop.
                    try? await Task.sleep(for: Self.restAfterFault)
                }
            }
            // What is on its way still is kept as waiting, and sent again.
            group.cancelAll()
        }
        await client.close()
    }

    /// The connections to the webhook; nil: it is gone, or its address is none.
    private func client() async -> WebhookClient? {
        do {
            let webhook = try await service.blocking { [webhooks, id] in try webhooks.webhook(id) }
            return try webhook.map { try WebhookClient(for: $0, pool: NameThreads()) }
        } catch {
            service.faults.note(error, of: JobBoard.Job.webhooks.rawValue)
            return nil
        }
    }

    private func plan(
        _ place: Place,
        _ underWay: [[DeliveryPlan.Delivery]]
    ) async throws -> DeliveryPlan? {
        let now = service.clock()
        return try await service.blocking { [webhooks, id] in
            try DeliveryPlan(
                of: id,
                webhooks,
                from: place.cursor,
                beside: underWay,
                within: place.bound,
                at: now
            )
        }
    }

    /// Keeps how far it came, for who is enabled again.
    private func save(_ place: Place) async throws {
        guard !place.isSaved, let cursor = place.cursor else { return }
        try await service.blocking { [webhooks, id] in try webhooks.keep(cursor, of: id) }
    }

    private func carryOut(
        _ plan: DeliveryPlan,
        _ round: inout WebhookRound,
        _ place: inout Place,
        _ group: inout TaskGroup<WebhookRound.Event>
    ) async throws {
        let (results, late) = await round.carryOut(plan, in: &group)
        place.bound.note(results, of: plan, at: service.clock())
        if place.cursor != plan.cursor { place.isSaved = false }
        place.cursor = plan.cursor
        let isLate = place.savedAt.duration(to: .now) >= Self.saveInterval || plan.isEmpty
        guard
            plan.isToBeKept || !results.isEmpty || !late.isEmpty || (!place.isSaved && isLate)
                || Task.isCancelled
        else { return }
        try await service.blocking { [webhooks] in
            try webhooks.keep(results, of: plan, beside: late)
        }
        (place.isSaved, place.savedAt) = (true, .now)
    }
}
