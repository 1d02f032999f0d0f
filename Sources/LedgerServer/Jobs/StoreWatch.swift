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
struct StoreWatch: ScheduledJob {
    let service: LedgerService
    let interval: Duration
    /// How long a store that renews purchases may say nothing; nil: as long as it likes.
    let silence: Duration?
    /// Where the next look goes on with asking.
    private var start: UInt64 = 0

    /// An hour.
    static let standardInterval = Duration.seconds(3600)
    /// Purchases that are asked about each time.
    private static let askedLimit = 100
    /// Events that are looked at for what came last, when the server begins.
    private static let newestCount: UInt64 = 100_000

    /// A day.
    static let standardSilence = Duration.seconds(86_400)
    /// Purchases that renew, of which one renews on most days.
    private static let leastRenewing = 30

    init(service: LedgerService, interval: Duration, silence: Duration? = standardSilence) {
        self.service = service
        self.interval = interval
        self.silence = silence
    }

    var job: JobBoard.Job { .stores }

    mutating func run() async -> JobRun {
        let first = start
        // Whoever stops the server does not wait for stores.
        let (run, next) = await cancelWhenGracefulShutdown { [self] in await look(from: first) }
        start = next
        return run
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

    /// Looks once; also says where the next one goes on with asking.
    @discardableResult
    func look(from start: UInt64 = 0) async -> (run: JobRun, next: UInt64) {
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
            let alerts = alerts(doubts, status.completeness, at: now)
            try await service.blocking { [service] in
                try service.alerts.hold(alerts, of: Self.kinds, at: now)
            }
            let clients = service.stores.clients
            guard !clients.isEmpty, !service.ledger.isReadOnly, !doubts.purchases.isEmpty else {
                return (.done, 0)
            }
            let synced = try await service.sync.sync(doubts.purchases, in: .production)
            service.logger.notice(
                "stores were asked about purchases of which they had not told",
                metadata: [
                    "purchases": "\(doubts.purchases.count)",
                    "reconciled": "\(synced.count { $0.outcome == .reconciled })",
                ]
            )
            // Those who were not asked are asked when the store wants to be asked again.
            let isHeldUp = synced.contains { $0.code?.holdsUpAll == true }
            return isHeldUp ? (.failed(notBefore: clients.heldUntil), start) : (.done, doubts.next)
        } catch is CancellationError {
            return (.ended, start)
        } catch {
            service.logger.error(
                "the look for purchases of which a store has not told could not be finished",
                metadata: ["fault": "\(type(of: error))"]
            )
            return (.failed(), start)
        }
    }

    /// What a look is about.
    private static let kinds: Set<LedgerAlert.Kind> = [
        .sourceSilent, .renewalsMissing, .purchasesUnacknowledged,
    ]

    private func alerts(
        _ doubts: PurchaseDoubts,
        _ completeness: [Keyed<StatusAnswer.Completeness>],
        at now: Instant
    ) -> [LedgerAlert] {
        var alerts: [LedgerAlert] = []
        for (store, counts) in doubts.counts.sorted(by: { $0.key < $1.key }) {
            func raise(_ kind: LedgerAlert.Kind, _ detail: String) {
                alerts.append(
                    LedgerAlert(kind, about: store.text, in: .production, since: now, detail)
                )
            }
            if counts.lacksRenewals {
                raise(
                    .renewalsMissing,
                    "renewals do not come: signals may be lost, run `entitle sync --backfill`"
                )
            }
            if counts.unacknowledged > 0, !canAcknowledge {
                raise(
                    .purchasesUnacknowledged,
                    "purchases were not acknowledged: Google takes them back after three days"
                )
            }
            if counts.renewing >= Self.leastRenewing, isSilent(store, completeness, at: now) {
                raise(
                    .sourceSilent,
                    "nothing comes of a store whose purchases renew: is the server reached by it?"
                )
            }
        }
        return alerts
    }

    /// Whether the look itself acknowledges what nobody did: Google may be asked, and the last look could.
    private var canAcknowledge: Bool {
        service.stores.clients.playStore != nil
            && service.jobs.all.first { $0.name == job.rawValue }?.result != .failed
    }

    /// Whether nothing was recorded for long of a store, by itself or by who tells of all stores.
    private func isSilent(
        _ store: Name,
        _ completeness: [Keyed<StatusAnswer.Completeness>],
        at now: Instant
    ) -> Bool {
        guard let silence else { return false }
        let last = completeness.filter { [store.text, Source.revenueCat].holds($0.name) }
            .compactMap(\.value.lastRecordedAt).max()
        // Fits: an interval that was configured.
        return last.map { $0.advanced(byMilliseconds: silence.microseconds / 1000) < now } ?? false
    }
}
