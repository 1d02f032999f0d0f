import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Stores

/// One sync: purchase by purchase, then what came of it.
struct SyncRun {
    private let sync: StoreSync
    private let environment: StoreEnvironment
    private let start: Instant
    private var tally = FetchTally()

    init(_ sync: StoreSync, in environment: StoreEnvironment) {
        self.sync = sync
        self.environment = environment
        start = sync.clock()
    }

    /// Asks the store of a purchase, unless it was told of already.
    mutating func ask(about purchase: PurchaseName) async throws {
        let standing = try await standing(of: purchase)
        let names = standing?.names ?? [purchase]
        // The history of one is that of all that its Apple Account bought.
        guard !names.contains(where: { tally.hasFound($0) }) else { return }
        tally.begin(purchase, standing)
        switch purchase.store {
        case Source.appStore: try await askAppStore(purchase)
        case Source.playStore: try await askPlayStore(purchase, names)
        default: tally.miss(purchase, .notConfigured)
        }
    }

    private mutating func askAppStore(_ purchase: PurchaseName) async throws {
        guard let appStore = sync.clients.appStore else {
            return tally.miss(purchase, .notConfigured)
        }
        let fetch = AppStoreFetch(
            appStore,
            of: purchase.originalID,
            in: environment,
            clock: sync.clock
        )
        if let fault = try await fetch.run({ try await take($0) }) {
            tally.miss(purchase, SyncedPurchase.Code(fault))
        }
    }

    private mutating func askPlayStore(
        _ purchase: PurchaseName,
        _ names: [PurchaseName]
    ) async throws {
        guard let playStore = sync.clients.playStore else {
            return tally.miss(purchase, .notConfigured)
        }
        for id in PlayFetch.ids(of: names) {
            let fetch = PlayFetch(playStore, of: id, now: sync.clock())
            if let fault = try await fetch.run({ try await take($0) }) {
                tally.miss(purchase, SyncedPurchase.Code(fault))
            }
        }
    }

    /// Appends what a store told, without what is known.
    private mutating func take(_ submissions: [Submission]) async throws {
        let ledger = sync.ledger
        for purchase in submissions.reduce(into: Set(), { $0.formUnion($1.purchases) })
        where tally.entries[purchase] == nil {
            tally.begin(purchase, try await standing(of: purchase))
        }
        let receipts = try await sync.pool.run {
            try ledger.appender.record(fetched: submissions)
        }
        tally.count(submissions, receipts)
    }

    private func standing(of purchase: PurchaseName) async throws -> StandingPurchase? {
        let (ledger, environment, start) = (sync.ledger, environment, start)
        return try await sync.pool.run {
            try ledger.questions.standing(of: purchase, in: environment, at: start)
        }
    }

    /// Records of each purchase that its store was asked, and says what came of it, by name.
    func finish() async throws -> [SyncedPurchase] {
        var synced: [PurchaseName: SyncedPurchase] = [:]
        for (name, entry) in tally.entries.sorted(by: { $0.key < $1.key }) where entry.isTold {
            let after = try await standing(of: name)
            let shown = after?.shown ?? name
            let found = SyncedPurchase(shown, entry, after: after)
            // Two names of one purchase are one.
            synced[shown] = synced[shown].map { $0.joined(with: found) } ?? found
        }
        let sorted = synced.sorted { $0.key < $1.key }
        let drafts = sorted.compactMap { $0.value.draft(of: $0.key, askedAt: start) }
        try await sync.record(drafts, from: Source.ledger, in: environment)
        return sorted.map(\.value)
    }
}
