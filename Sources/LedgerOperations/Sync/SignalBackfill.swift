import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Stores

/// Asks the stores for what they sent in a stretch of time, and appends what never came (Z12).
struct SignalBackfill {
    private let sync: StoreSync
    private let environment: StoreEnvironment
    private let now: Instant

    /// Milliseconds of a stretch that is asked for at once, and is known to be complete then: what an
    /// interruption costs.
    private static let stretch = 7 * Instant.millisecondsPerDay
    /// Days for which the App Store tells its notifications, and Google Play its voided purchases.
    private static let appStoreDays: Int64 = 180
    private static let appStoreSandboxDays: Int64 = 30
    private static let playStoreDays: Int64 = 30

    init(_ sync: StoreSync, in environment: StoreEnvironment) {
        self.sync = sync
        self.environment = environment
        now = sync.clock()
    }

    /// Asks each store that may be asked.
    func run(
        since: Instant?,
        isInterrupted: @Sendable () -> Bool
    ) async throws -> [BackfilledSource] {
        var sources: [BackfilledSource] = []
        if let appStore = sync.clients.appStore {
            let days = environment == .sandbox ? Self.appStoreSandboxDays : Self.appStoreDays
            sources.append(
                try await ask(Source.appStore, days: days, since: since, isInterrupted) {
                    try await notifications($0, appStore, $1)
                }
            )
        }
        // Google Play tells of testers beside everybody else.
        if let playStore = sync.clients.playStore, environment == .production {
            let days = Self.playStoreDays
            sources.append(
                try await ask(Source.playStore, days: days, since: since, isInterrupted) {
                    try await voidedPurchases($0, playStore, $1)
                }
            )
        }
        return sources
    }

    /// Asks for one stretch after the other, and records how far the log is complete.
    private func ask(
        _ store: String,
        days: Int64,
        since: Instant?,
        _ isInterrupted: @Sendable () -> Bool,
        _ fetch: (
            _ stretch: Range<Instant>,
            _ take: ([Submission]) async throws -> Void
        ) async throws -> Void
    ) async throws -> BackfilledSource {
        let (ledger, environment) = (sync.ledger, environment)
        let known = try await sync.pool.run {
            try ledger.questions.completeThrough(of: store, in: environment)
        }
        let oldest = now.advanced(byMilliseconds: -days * Instant.millisecondsPerDay)
        let first = min(max(since ?? known ?? oldest, oldest), now)
        var source = BackfilledSource(store: store, since: first)
        do {
            while source.through < now, !isInterrupted() {
                let end = min(source.through.advanced(byMilliseconds: Self.stretch), now)
                let before = source
                try await fetch(source.through..<end) { submissions in
                    let receipts = try await sync.pool.run {
                        try ledger.appender.record(fetched: submissions)
                    }
                    source.count(receipts)
                }
                source.through = end
                try await record(source, since: before)
            }
        } catch let fault as StoreFault {
            source.code = SyncedPurchase.Code(fault)
        }
        return source
    }

    private func notifications(
        _ stretch: Range<Instant>,
        _ appStore: StoreClients.AppStore,
        _ take: ([Submission]) async throws -> Void
    ) async throws {
        for bundleID in appStore.api.bundleIDs {
            var pages = appStore.api.notifications(
                in: stretch,
                about: bundleID,
                in: environment
            )
            while let page = try await pages.next() {
                let outcomes = await AppStoreImport.outcomes(
                    of: page,
                    verifier: appStore.verifier,
                    now: sync.clock()
                )
                try await take(usable(outcomes))
            }
        }
    }

    private func voidedPurchases(
        _ stretch: Range<Instant>,
        _ playStore: StoreClients.PlayStore,
        _ take: ([Submission]) async throws -> Void
    ) async throws {
        for packageName in playStore.configuration.packageNames.sorted() {
            var pages = playStore.api.voidedPurchases(
                in: stretch,
                packageName: packageName.description
            )
            while let page = try await pages.next() {
                let outcomes = PlayImport.outcomes(
                    of: page,
                    configuration: playStore.configuration,
                    now: sync.clock()
                )
                try await take(usable(outcomes))
            }
        }
    }

    /// What an answer comes to, whatever else stands beside it.
    private func usable(_ outcomes: [Result<Submission, SignalRefusal>]) -> [Submission] {
        // Why one is refused makes no difference here: another's message is none of ours.
        outcomes.compactMap { try? $0.get() }
    }

    /// Records until when the log is complete, and what one stretch brought.
    private func record(_ source: BackfilledSource, since before: BackfilledSource) async throws {
        let appended = source.appended - before.appended
        let draft = EventDraft(
            subject: .store(source.store),
            time: now,
            data: EventData(
                appended > 0 ? .syncReconciled : .syncCompleted,
                [
                    .found: .integer(Int64(source.found - before.found)),
                    .appended: .integer(Int64(appended)), .through: .instant(source.through),
                ]
            )
        )
        try await sync.record([draft], from: source.store, in: environment)
    }
}

extension BackfilledSource {
    /// Counts what became of messages.
    fileprivate mutating func count(_ receipts: [Receipt]) {
        found += receipts.count
        for case .appended(_, let count) in receipts { appended += count }
    }
}
