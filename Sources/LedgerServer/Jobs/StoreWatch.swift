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
    private var progress = Progress()

    /// What a look leaves to the next one.
    struct Progress: Sendable {
        /// Where it goes on with asking each store.
        var starts: [Name: UInt64] = [:]
        /// Stores that could not be asked.
        var failing: Set<Name> = []
        /// Stores that did not let us do what the look does, be it of one purchase.
        var forbidding: Set<Name> = []
    }

    /// An hour.
    static let standardInterval = Duration.seconds(3600)
    /// Purchases of a store that are asked about each time.
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
    var isLeaders: Bool { true }

    mutating func run() async -> JobRun {
        // Whoever stops the server does not wait for stores.
        let (run, next) = await cancelWhenGracefulShutdown { [self] in await look(from: progress) }
        progress = next
        return run
    }

    func handOver() { service.metrics.stores.forgetLook() }

    /// Says when stores told something last, before they tell more: one that is silent since before the
    /// start is seen.
    func recall() async {
        // What the log does not tell here the next look says.
        let recorded = try? await service.blocking { [ledger = service.ledger] in
            try ledger.auditor.lastRecorded(amongNewest: Self.newestCount)
        }
        service.metrics.stores.note(recorded ?? [:])
    }

    /// Looks once; also says with what the next one goes on.
    @discardableResult
    func look(from progress: Progress = Progress()) async -> (run: JobRun, next: Progress) {
        do {
            let now = service.clock()
            let (doubts, status) = try await service.blocking { [service] in
                (
                    try service.ledger.questions.purchaseDoubts(
                        in: .production,
                        at: now,
                        from: progress.starts,
                        limit: Self.askedLimit
                    ),
                    try service.ledger.auditor.status()
                )
            }
            service.metrics.stores.set(doubts, status.completeness)
            let alerts = alerts(doubts, status.completeness, progress, at: now)
            try await service.blocking { [service] in
                try service.alerts.hold(alerts, of: Self.kinds, at: now)
            }
            guard !service.stores.clients.isEmpty, !service.ledger.isReadOnly else {
                return (.done, Progress())
            }
            return try await ask(about: doubts, from: progress)
        } catch is CancellationError {
            return (.ended, progress)
        } catch {
            service.logger.error(
                "the look for purchases of which a store has not told could not be finished",
                metadata: ["fault": "\(type(of: error))"]
            )
            let failing: Set<Name> = [Name(Source.appStore), Name(Source.playStore)]
            return (.failed(), Progress(starts: progress.starts, failing: failing))
        }
    }

    /// Asks each store about its own, but who wants to be left alone: that one is asked when it wants to be,
    /// and holds up no other.
    private func ask(
        about doubts: PurchaseDoubts,
        from progress: Progress
    ) async throws -> (JobRun, next: Progress) {
        let clients = service.stores.clients
        let asked = doubts.purchases.filter { clients.heldUntil($0.store, in: .production) == nil }
        let synced = asked.isEmpty ? [] : try await service.sync.sync(asked, in: .production)
        let replies = StoreReplies(synced)
        tell(synced, replies)
        let held = Set(doubts.purchases.map { Name($0.store) })
            .subtracting(asked.map { Name($0.store) })
            .union(replies.holding)
        var next = Progress(
            starts: doubts.next,
            failing: held.union(replies.refusing.map { Name($0.store) }),
            forbidding: replies.forbidding
        )
        guard !held.isEmpty else { return (next.failing.isEmpty ? .done : .failed(), next) }
        for store in held { next.starts[store] = progress.starts[store] }
        let others = doubts.next.count > held.count ? service.clock() + interval : nil
        let holds = held.map { clients.heldUntil($0.text, in: .production) }
        return (.failed(heldUntil: holds, others: others), next)
    }

    private func tell(_ synced: [SyncedPurchase], _ replies: StoreReplies) {
        guard !synced.isEmpty else { return }
        service.logger.notice(
            "stores were asked about purchases of which they had not told",
            metadata: [
                "purchases": "\(synced.count)",
                "reconciled": "\(synced.count { $0.outcome == .reconciled })",
            ]
        )
        for (store, code) in replies.refusing {
            service.logger.warning(
                "a store told nothing of the purchases that it was asked about",
                metadata: ["store": "\(store)", "code": "\(code.rawValue)"]
            )
        }
    }

    /// What a look is about.
    private static let kinds: Set<LedgerAlert.Kind> = [
        .sourceSilent, .renewalsMissing, .purchasesUnacknowledged,
    ]

    private func alerts(
        _ doubts: PurchaseDoubts,
        _ completeness: [Keyed<StatusAnswer.Completeness>],
        _ progress: Progress,
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
                    "renewals do not come: signals may be lost, run "
                        + Source.fetching(from: store.text)
                )
            }
            if counts.unacknowledged > 0, !canAcknowledge(progress) {
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
    private func canAcknowledge(_ progress: Progress) -> Bool {
        service.stores.clients.playStore != nil
            && !progress.failing.union(progress.forbidding).contains(Name(Source.playStore))
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
        return last.map { $0 + silence < now } ?? false
    }
}
