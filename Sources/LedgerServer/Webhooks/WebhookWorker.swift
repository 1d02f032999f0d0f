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
        var isSaved = true
        var savedAt = ContinuousClock.now
    }

    func run() async {
        var place = Place()
        var client: (address: WebhookAddress, client: WebhookClient)?
        var wakes = wakes.makeAsyncIterator()
        while !Task.isCancelled {
            do {
                let (now, cursor) = (service.clock(), place.cursor)
                let plan = try await service.blocking { [webhooks, id] in
                    try DeliveryPlan(of: id, webhooks, from: cursor, at: now)
                }
                guard let plan else { break }
                let address = try WebhookAddress(
                    plan.webhook.url,
                    mayBePrivate: plan.webhook.mayBePrivate
                )
                if client?.address != address {
                    await client?.client.close()
                    client = (
                        address,
                        WebhookClient(
                            address,
                            mayBePrivate: plan.webhook.mayBePrivate,
                            pool: service
                        )
                    )
                }
                guard let sender = client?.client else { break }
                try await carryOut(plan, sender, &place)
                // It is woken every second, so that nothing that is due waits longer.
                if plan.isEmpty, await wakes.next() == nil { break }
            } catch {
                service.faults.note(error, of: JobBoard.Job.webhooks.rawValue)
                // Who is cancelled ends with the next turn of the loop.
                try? await Task.sleep(for: Self.restAfterFault)
            }
        }
        await client?.client.close()
    }

    private func carryOut(
        _ plan: DeliveryPlan,
        _ client: WebhookClient,
        _ place: inout Place
    ) async throws {
        let counters = service.metrics.webhooks
        let round = WebhookRound(plan: plan, client: client, clock: service.clock) {
            _,
            attempt,
            isGivenUp in
            counters.count(attempt.isTaken ? .delivered : isGivenUp ? .dead : .failed)
        }
        let results = await round.results()
        if place.cursor != plan.cursor { place.isSaved = false }
        place.cursor = plan.cursor
        let isLate = place.savedAt.duration(to: .now) >= Self.saveInterval || plan.isEmpty
        guard
            plan.isToBeKept || !results.isEmpty || (!place.isSaved && isLate) || Task.isCancelled
        else { return }
        try await service.blocking { [webhooks] in try webhooks.keep(results, of: plan) }
        (place.isSaved, place.savedAt) = (true, .now)
    }
}
