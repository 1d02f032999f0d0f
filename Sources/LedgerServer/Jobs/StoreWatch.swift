import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Logging
import ServiceLifecycle

/// Looks for purchases of which a store has not told what it should have, counts them, and asks about some
/// (Stores, rules 3 and 7; Z12): a renewal that does not come, a claim that was not confirmed, a purchase
/// that Google takes back unless it is acknowledged.
struct StoreWatch: Service {
    let service: LedgerService
    let interval: Duration

    /// An hour.
    static let standardInterval = Duration.seconds(3600)
    /// Purchases that are asked about each time.
    private static let askedLimit = 100
    /// Events that are looked at for what came last, when the server begins.
    private static let newestCount: UInt64 = 100_000

    /// Looks until the server is told to stop; first after one interval.
    func run() async throws {
        await recall()
        var start: UInt64 = 0
        while await service.isTime(for: .stores, after: interval) {
            let first = start
            // Whoever stops the server does not wait for stores.
            start = await cancelWhenGracefulShutdown { await look(from: first) }
        }
    }

    /// Says when stores told something last, before they tell more: one that is silent since before the
    /// start is seen.
    func recall() async {
        // What the log does not tell here the next look says.
        let recorded = try? await service.blocking { [ledger = service.ledger] in
            try ledger.auditor.lastRecorded(amongNewest: Self.newestCount)
        }
        service.metrics.stores.note(recorded ?? [:])
    }

    /// Looks once; returns where the next one goes on with asking.
    @discardableResult
    func look(from start: UInt64 = 0) async -> UInt64 {
        do {
            let now = service.clock()
            let (doubts, status) = try await service.blocking { [service] in
                (
                    try service.ledger.questions.purchaseDoubts(
                        in: .production,
                        at: now,
                        from: start,
                        limit: Self.askedLimit
                    ),
                    try service.ledger.auditor.status()
                )
            }
            service.metrics.stores.set(doubts, status.completeness)
            tell(doubts)
            guard !service.stores.clients.isEmpty, !service.ledger.isReadOnly,
                !doubts.purchases.isEmpty
            else {
                service.jobs.end(.stores, isDone: true)
                return 0
            }
            let synced = try await service.sync.sync(doubts.purchases, in: .production)
            service.logger.notice(
                "stores were asked about purchases of which they had not told",
                metadata: [
                    "purchases": "\(doubts.purchases.count)",
                    "reconciled": "\(synced.count { $0.outcome == .reconciled })",
                ]
            )
            service.jobs.end(.stores, isDone: true)
            return doubts.next
        } catch is CancellationError {
            // The server stops.
            return start
        } catch {
            service.jobs.end(.stores, isDone: false)
            service.logger.error(
                "the look for purchases of which a store has not told could not be finished",
                metadata: ["fault": "\(type(of: error))"]
            )
            return start
        }
    }

    private func tell(_ doubts: PurchaseDoubts) {
        for (store, counts) in doubts.counts.sorted(by: { $0.key < $1.key }) {
            let metadata: Logger.Metadata = ["store": "\(store.text)"]
            if counts.lacksRenewals {
                service.logger.error(
                    "renewals do not come: signals may be lost, run `entitle sync --backfill`",
                    metadata: metadata.merging([
                        "expected": "\(counts.renewalsExpected)", "renewing": "\(counts.renewing)",
                    ]) { $1 }
                )
            }
            if counts.unacknowledged > 0, service.stores.clients.playStore == nil {
                service.logger.error(
                    "purchases were not acknowledged: Google takes them back after three days",
                    metadata: metadata.merging(["purchases": "\(counts.unacknowledged)"]) { $1 }
                )
            }
        }
    }
}
