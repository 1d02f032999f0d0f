import Encodings
package import EntitlementLedger
package import Entitlements
package import LedgerAPI
import Stores

/// Asks the stores about what customers own, and appends what they know and the ledger does not
/// (rows 6.2, 6.3, 8.3; Stores, rule 9).
///
/// A fetch adds facts, and never rewrites. What a store told before a fault counts.
package struct StoreSync: Sendable {
    let ledger: Ledger
    let clients: StoreClients
    let pool: any BlockingPool
    let clock: @Sendable () -> Instant
    /// An id for each sync that is recorded.
    let makeID: @Sendable () -> String

    /// Names all that it works with; `pool`: threads that may wait for the disk.
    package init(
        _ ledger: Ledger,
        _ clients: StoreClients,
        pool: any BlockingPool,
        clock: @escaping @Sendable () -> Instant,
        makeID: @escaping @Sendable () -> String
    ) {
        self.ledger = ledger
        self.clients = clients
        self.pool = pool
        self.clock = clock
        self.makeID = makeID
    }

    /// Fetches what a customer owns now, and records of each purchase that its store was asked (P11),
    /// and what differed.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`; a store that does not answer is no fault of the sync,
    ///   and stands in the answer.
    package func sync(
        _ customer: CustomerID,
        in environment: StoreEnvironment
    ) async throws -> SyncAnswer {
        let start = clock()
        let owned = try await pool.run {
            try ledger.questions.purchases(ownedBy: customer, in: environment, at: start)
        }
        var run = SyncRun(self, in: environment, isOfCustomer: true)
        // First, for what it tells may be what their stores are asked by.
        let fault = try await run.ask(about: customer)
        for purchase in Set(owned + run.purchases).sorted() {
            try await run.ask(about: purchase)
        }
        let synced = try await run.finish()
        return SyncAnswer(
            customer: customer.text,
            environment: environment,
            at: start,
            sequence: try await pool.run { try ledger.questions.size() },
            purchases: synced,
            faults: fault.map { [SyncFault(store: Source.revenueCat, code: $0)] } ?? []
        )
    }

    /// Fetches some purchases, and what else their accounts bought.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func sync(
        _ purchases: [PurchaseName],
        in environment: StoreEnvironment
    ) async throws -> [SyncedPurchase] {
        try await sync(purchases, in: environment, told: ToldPurchases())
    }

    /// The same as a batch among others, which tell of one another's.
    func sync(
        _ purchases: [PurchaseName],
        in environment: StoreEnvironment,
        told: ToldPurchases
    ) async throws -> [SyncedPurchase] {
        var run = SyncRun(self, in: environment, told: told)
        for purchase in purchases { try await run.ask(about: purchase) }
        return try await run.finish()
    }

    /// Records that stores were asked, each event by itself.
    func record(
        _ drafts: [EventDraft],
        from source: String,
        in environment: StoreEnvironment
    ) async throws {
        guard !drafts.isEmpty else { return }
        let id = makeID()
        let submissions = drafts.enumerated().map { place, draft in
            Submission(
                id: "sync/\(id)/\(place)",
                source: source,
                environment: environment,
                nature: .signal,
                drafts: [draft],
                evidenceParts: nil
            )
        }
        let receipts = try await pool.run { try ledger.appender.record(submissions) }
        precondition(receipts.allSatisfy(\.isAppended), "each sync has an id of its own")
    }
}

extension Receipt {
    fileprivate var isAppended: Bool {
        if case .appended = self { true } else { false }
    }
}
