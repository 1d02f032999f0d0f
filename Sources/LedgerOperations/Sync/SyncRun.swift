import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Stores

/// One sync: purchase by purchase, then what came of it.
struct SyncRun {
    private let sync: StoreSync
    private let environment: StoreEnvironment
    private let isOfCustomer: Bool
    private let start: Instant
    private var tally = FetchTally()
    private let told: ToldPurchases
    /// What was told and is not recorded yet.
    private var pending: [Submission] = []

    /// Messages of some purchases that are recorded together: a commit each is what takes long.
    private static let groupSize = 200

    /// `isOfCustomer`: of one, who is asked about as thoroughly as the stores allow, and of whom one
    /// purchase is recorded before the next is asked about.
    init(
        _ sync: StoreSync,
        in environment: StoreEnvironment,
        isOfCustomer: Bool = false,
        told: ToldPurchases = ToldPurchases()
    ) {
        self.sync = sync
        self.told = told
        self.isOfCustomer = isOfCustomer
        self.environment = environment
        start = sync.clock()
    }

    /// Asks the store of a purchase, unless it was told of already.
    mutating func ask(about purchase: PurchaseName) async throws {
        let standing = try await standing(of: purchase)
        let names = standing?.names ?? [purchase]
        guard !told.contains(names) else { return }
        tally.begin(purchase, standing)
        switch purchase.store {
        case Source.appStore: try await askAppStore(purchase)
        case Source.playStore: try await askPlayStore(purchase, names)
        default: tally.pass(purchase)
        }
        if isOfCustomer { try await record() }
    }

    /// The purchases that were told of so far.
    var purchases: [PurchaseName] { tally.entries.keys.sorted() }

    /// Asks RevenueCat about a customer.
    ///
    /// - Returns: why it did not tell all; nil: it did, or knows nobody of this id.
    mutating func ask(about customer: CustomerID) async throws -> SyncedPurchase.Code? {
        guard let revenueCat = sync.clients.revenueCat else { return nil }
        let (answers, fault) = await revenueCat.told(of: customer)
        if answers.isEmpty, fault?.code == .notFound { return nil }
        var code = fault.map { SyncedPurchase.Code($0) }
        for answer in answers {
            do {
                let json = try JSONValue(parsingStoreText: answer)
                let submissions =
                    try RevenueCatImport.outcomes(of: json, body: answer, now: sync.clock())
                    .map { try $0.get() }
                // It tells of testers beside everybody else: each is recorded where it belongs.
                try await take(submissions)
            } catch is SignalRefusal {
                code = code ?? .malformed
            } catch is JSONFault {
                code = code ?? .malformed
            }
        }
        try await record()
        return code
    }

    private mutating func askAppStore(_ purchase: PurchaseName) async throws {
        guard let appStore = sync.clients.appStore else {
            return tally.pass(purchase)
        }
        let fetch = AppStoreFetch(
            appStore,
            of: purchase.originalID,
            in: environment,
            asksForRefunds: isOfCustomer,
            clock: sync.clock
        )
        var named: Set<PurchaseName> = [purchase]
        let fault = try await fetch.run { submissions in
            named.formUnion(submissions.purchases(in: environment))
            try await take(submissions)
        }
        // Half an answer tells of none of them whole: what it names is asked about by itself.
        tally.conclude(named, fault.map { SyncedPurchase.Code($0) })
        if fault == nil { told.insert(named, besides: purchase) }
    }

    private mutating func askPlayStore(
        _ purchase: PurchaseName,
        _ names: [PurchaseName]
    ) async throws {
        guard let playStore = sync.clients.playStore else {
            return tally.pass(purchase)
        }
        var isTold = false
        var fault: StoreFault?
        // Told of another environment alone, such as a tester's, a purchase is not known in this one.
        var unknown = StoreFault(.notFound)
        for id in PlayFetch.ids(of: names) {
            let fetch = PlayFetch(playStore, of: id, now: sync.clock())
            var isAnswered = false
            let failure = try await fetch.run { submission, isAwaited in
                isAnswered = true
                isTold = isTold || submission.environment == environment
                told.insert([submission].purchases(in: environment), besides: purchase)
                try await take([submission], atOnce: isAwaited)
            }
            guard let failure else { continue }
            // Google forgets a token that was replaced: what the others of the purchase tell is all.
            if isAnswered || !failure.isOfUnknown { fault = failure } else { unknown = failure }
        }
        let missed = fault ?? (isTold ? nil : unknown)
        tally.conclude([purchase], missed.map { SyncedPurchase.Code($0) })
    }

    /// Appends what was told, without what is known.
    ///
    /// `atOnce`: it is recorded when this returns, not together with others.
    private mutating func take(_ submissions: [Submission], atOnce: Bool = false) async throws {
        guard !submissions.isEmpty else { return }
        for purchase in submissions.purchases(in: environment)
        where tally.entries[purchase] == nil {
            tally.begin(purchase, try await standing(of: purchase))
        }
        pending += submissions
        if atOnce || pending.count >= Self.groupSize { try await record() }
    }

    /// Appends what is pending.
    private mutating func record() async throws {
        guard !pending.isEmpty else { return }
        let (ledger, submissions) = (sync.ledger, pending)
        pending = []
        let receipts = try await sync.pool.run {
            try ledger.appender.record(fetched: submissions)
        }
        tally.count(submissions, receipts, in: environment)
    }

    private func standing(of purchase: PurchaseName) async throws -> StandingPurchase? {
        let (ledger, environment, start) = (sync.ledger, environment, start)
        return try await sync.pool.run {
            try ledger.questions.standing(of: purchase, in: environment, at: start)
        }
    }

    /// Records of each purchase that its store was asked, and says what came of it, by name.
    mutating func finish() async throws -> [SyncedPurchase] {
        try await record()
        var synced: [PurchaseName: SyncedPurchase] = [:]
        var confirmations: [EventDraft] = []
        for (name, entry) in tally.entries.sorted(by: { $0.key < $1.key }) where entry.isTold {
            let after = try await standing(of: name)
            let shown = after?.shown ?? name
            let found = SyncedPurchase(shown, entry, after: after)
            if after?.isUnconfirmed == true, found.isAnswered {
                confirmations.append(StoreSync.confirmation(of: shown, at: start))
            }
            // Two names of one purchase are one.
            synced[shown] = synced[shown].map { $0.joined(with: found) } ?? found
        }
        let sorted = synced.sorted { $0.key < $1.key }
        let drafts = sorted.compactMap { $0.value.draft(of: $0.key, askedAt: start) }
        try await sync.record(confirmations + drafts, from: Source.ledger, in: environment)
        return sorted.map(\.value)
    }
}
