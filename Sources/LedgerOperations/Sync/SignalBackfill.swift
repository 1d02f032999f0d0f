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
    /// Milliseconds of a stretch that is asked for in no smaller parts, however much was sent in it.
    private static let leastStretch: Int64 = 60_000
    /// Milliseconds by which less is asked for than a store tells: it counts from when it is asked, and
    /// refuses what lies before.
    private static let margin: Int64 = 3_600_000
    /// Days for which the App Store tells its notifications, and Google Play its voided purchases.
    private static let appStoreDays: Int64 = 180
    private static let appStoreSandboxDays: Int64 = 30
    private static let playStoreDays: Int64 = 30

    init(_ sync: StoreSync, in environment: StoreEnvironment) {
        self.sync = sync
        self.environment = environment
        now = sync.clock()
    }

    /// How much of a stretch was told.
    private enum Extent {
        case whole
        /// More is to be told than is read: it is asked for in parts.
        case tooMuch
        /// Nothing was to be had of some apps, which a key or the store keeps back.
        case ofSome
    }

    /// Gets what the messages of a page come to.
    private typealias Take = ([Result<Submission, SignalRefusal>]) async throws -> Void

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
    ///
    /// `fetch`: says whether that was all of the stretch; where a store has more to tell of it than is read,
    /// it is asked for half of it. Where nothing is told of some apps, the log is not known to be complete.
    private func ask(
        _ store: String,
        days: Int64,
        since: Instant?,
        _ isInterrupted: @Sendable () -> Bool,
        _ fetch: (_ stretch: Range<Instant>, _ take: Take) async throws -> Extent
    ) async throws -> BackfilledSource {
        let (ledger, environment) = (sync.ledger, environment)
        let known = try await sync.pool.run {
            try ledger.questions.completeThrough(of: store, in: environment)
        }
        let oldest = now.advanced(
            byMilliseconds: Self.margin - days * Instant.millisecondsPerDay
        )
        let first = min(max(since ?? known ?? oldest, oldest), now)
        // What was sent between is known to nobody, unless the store tells it no more.
        var isGapless = first <= max(known ?? oldest, oldest)
        var source = BackfilledSource(store: store, since: first)
        var stretch = Self.stretch
        var before = source
        var complete = known
        do {
            while source.through < now, !isInterrupted() {
                let end = min(source.through.advanced(byMilliseconds: stretch), now)
                let extent = try await fetch(source.through..<end) { outcomes in
                    // Why one is refused makes no difference here; that it was is counted.
                    let submissions = outcomes.compactMap { try? $0.get() }
                    let receipts = try await sync.pool.run {
                        try ledger.appender.record(fetched: submissions)
                    }
                    source.count(receipts, refused: outcomes.count - submissions.count)
                }
                guard extent != .tooMuch else {
                    // Fits: both are of one stretch.
                    stretch = (end.milliseconds - source.through.milliseconds) / 2
                    guard stretch >= Self.leastStretch else { throw StoreFault(.malformed) }
                    // It is told again.
                    (source.found, source.refused) = (before.found, before.refused)
                    continue
                }
                source.through = end
                if extent == .ofSome {
                    isGapless = false
                    source.code = .notPermitted
                }
                // What was refused may have been the store's word: it is asked for again.
                if isGapless, source.refused == 0 { complete = source.through }
                try await record(source, since: before, completeThrough: complete)
                before = source
                // What is crowded once need not be so always; what is asked for in vain is asked for twice.
                stretch = min(stretch + stretch / 16, Self.stretch)
            }
        } catch let fault as StoreFault {
            source.code = SyncedPurchase.Code(fault)
        }
        return source
    }

    private func notifications(
        _ stretch: Range<Instant>,
        _ appStore: StoreClients.AppStore,
        _ take: Take
    ) async throws -> Extent {
        var withheld: [StoreFault] = []
        for bundleID in appStore.api.bundleIDs {
            var pages = appStore.api.notifications(
                in: stretch,
                about: bundleID,
                in: environment
            )
            do {
                while !pages.isTooLong, let page = try await pages.next() {
                    let outcomes = await AppStoreImport.outcomes(
                        of: page,
                        verifier: appStore.verifier,
                        now: sync.clock()
                    )
                    try await take(outcomes)
                }
            } catch let fault as StoreFault where fault.code == .notPermitted {
                withheld.append(fault)
            }
            if pages.isTooLong { return .tooMuch }
        }
        if withheld.count == appStore.api.bundleIDs.count, let fault = withheld.first {
            throw fault
        }
        return withheld.isEmpty ? .whole : .ofSome
    }

    private func voidedPurchases(
        _ stretch: Range<Instant>,
        _ playStore: StoreClients.PlayStore,
        _ take: Take
    ) async throws -> Extent {
        for packageName in playStore.configuration.packageNames.sorted() {
            var pages = playStore.api.voidedPurchases(
                in: stretch,
                packageName: packageName.description
            )
            while !pages.isTooLong, let page = try await pages.next() {
                let outcomes = PlayImport.outcomes(
                    of: page,
                    configuration: playStore.configuration,
                    now: sync.clock()
                )
                try await take(outcomes)
            }
            if pages.isTooLong { return .tooMuch }
        }
        return .whole
    }

    /// Records what one stretch brought, and until when the log is complete; nil: nobody knows.
    private func record(
        _ source: BackfilledSource,
        since before: BackfilledSource,
        completeThrough: Instant?
    ) async throws {
        let appended = source.appended - before.appended
        let draft = EventDraft(
            subject: .store(source.store),
            time: now,
            data: EventData(
                appended > 0 ? .syncReconciled : .syncCompleted,
                [
                    .found: .integer(Int64(source.found - before.found)),
                    .appended: .integer(Int64(appended)),
                    .through: completeThrough.map { .instant($0) },
                ]
            )
        )
        try await sync.record([draft], from: source.store, in: environment)
    }
}

extension BackfilledSource {
    /// Counts what became of messages.
    fileprivate mutating func count(_ receipts: [Receipt], refused: Int) {
        found += receipts.count + refused
        self.refused += refused
        for case .appended(_, let count) in receipts { appended += count }
    }
}
