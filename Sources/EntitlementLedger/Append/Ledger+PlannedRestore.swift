public import Entitlements
import EventLog

/// What a transaction's part in a restore would come to.
public struct PlannedClaim: Sendable, Equatable {
    /// As the restore would tell it, if it were made now.
    public var outcome: ClaimOutcome
    /// Whether the purchase would be taken from another customer.
    public var moves: Bool
    /// That customer, for support's eyes only; nil: nobody, or their name is erased.
    public var formerOwner: CustomerID?
}

extension Ledger {
    /// What a restore would do if it were made now; nothing is recorded.
    ///
    /// It is decided in a draft, one transaction after the other, as `Appender.restore` would. So may
    /// who only reads.
    ///
    /// - Returns: one for each, in their order.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    public func plannedRestore(
        _ transactions: [VerifiedTransaction],
        for customer: CustomerID,
        _ request: Request
    ) throws -> [PlannedClaim] {
        let draft = try draft()
        let before = try transactions.map { try draft.questions.ownership(of: $0) }
        let outcomes = try draft.appender.restore(transactions, for: customer, request)
        let planned = try transactions.indices.map { index in
            var planned = PlannedClaim(outcome: outcomes[index], moves: false)
            guard case .recorded = outcomes[index], let owner = before[index]?.owner,
                let after = try draft.questions.ownership(of: transactions[index]),
                after.owner != after.customers.canonical(owner)
            else { return planned }
            planned.moves = true
            planned.formerOwner = try draft.questions.vault.customer(of: owner)
            return planned
        }
        try draft.close()
        return planned
    }
}

extension Questions {
    /// How what a transaction gives is owned (C1), of several purchases the first that somebody owns; nil:
    /// nothing is known of it.
    fileprivate func ownership(of transaction: VerifiedTransaction) throws -> PurchaseOwnership? {
        let all = try transaction.purchases.compactMap {
            try ownership(of: $0, in: transaction.facts.environment)
        }
        return all.first { $0.owner != nil } ?? all.first
    }

    private func ownership(
        of purchase: PurchaseName,
        in environment: StoreEnvironment
    ) throws -> PurchaseOwnership? {
        let name = StreamName(.purchase(purchase), in: environment)
        guard let stream = try vault.stream(of: name) else { return nil }
        let size = try size()
        var loader = FactLoader(log: log, vault: vault, views: views, size: size)
        return PurchaseOwnership(
            purchase: stream,
            facts: try loader.facts(ofPurchase: stream),
            catalogs: try catalogHistory(size: size)
        )
    }
}
