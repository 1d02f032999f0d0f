/// All that is known of who owns purchases (C1).
package struct OwnerFacts: Sendable {
    /// Names of one customer (C2).
    package let customers: Links
    /// Names of one purchase (P13).
    package let purchases: Links
    /// The claims, releases and periods of each purchase.
    private let facts: FactsByPurchase
    /// Every transfer that may concern one of them; others change nothing.
    private let transfers: [Fact]
    /// The first erasure of each customer, by their number: its sequence.
    private let erasures: [UInt64: UInt64]
    private let catalogs: CatalogHistory

    /// Gathers them.
    ///
    /// - Parameters:
    ///   - facts: ascending by sequence; others change nothing.
    ///   - catalogs: of the same prefix, for `policy.claim`.
    package init(_ facts: [Fact], catalogs: CatalogHistory) {
        let customers = Links(facts, of: .customerLinked)
        let purchases = Links(facts, of: .purchaseLinked)
        var erasures: [UInt64: UInt64] = [:]
        for fact in facts where fact.kind == .customerErased {
            let customer = customers.canonical(fact.subject)
            erasures[customer] = min(erasures[customer] ?? .max, fact.sequence)
        }
        self.customers = customers
        self.purchases = purchases
        self.erasures = erasures
        self.catalogs = catalogs
        // Without an account, periods say nothing of owners.
        let haveAccounts = facts.contains { $0.account != nil }
        self.facts = FactsByPurchase(facts) { fact in
            switch fact.kind {
            case .customerClaimed, .customerReleased: fact.other.map(purchases.canonical)
            case .purchaseCompleted, .purchaseRenewed:
                haveAccounts ? purchases.canonical(fact.subject) : nil
            default: nil
            }
        }
        transfers = facts.filter { $0.kind == .customerTransferred }
    }

    /// Who owns a purchase.
    ///
    /// `purchase`: any of its names. Cost: linear in its facts and all transfers, and their order.
    package func ownership(of purchase: UInt64) -> Ownership {
        ownership(facts[purchases.canonical(purchase)])
    }

    /// Hands out who owns each purchase that somebody claimed, in the order of the numbers.
    package func forEach(_ body: (_ purchase: UInt64, Ownership) -> Void) {
        facts.forEach { purchase, facts in
            let ownership = ownership(facts)
            if ownership.firstClaim != nil { body(purchase, ownership) }
        }
    }

    private func ownership(_ facts: [Fact]) -> Ownership {
        var steps: [Ownership.Step] = []
        var periods: [Fact] = []
        for fact in facts {
            let customer = customers.canonical(fact.subject)
            switch fact.kind {
            case .customerClaimed: steps.append(Ownership.Step(fact, .claim(by: customer)))
            case .customerReleased: steps.append(Ownership.Step(fact, .release(by: customer)))
            default: periods.append(fact)
            }
        }
        let erased = ErasedAccounts(
            facts,
            transfers: transfers,
            customers: customers,
            erasures: erasures
        )
        let accounts = AccountClaims(periods, customers, erased).claims
        steps += accounts.steps
        let isClaimed = steps.contains { $0.claimant != nil }
        guard isClaimed else { return Ownership([], catalogs) }
        steps += transfers.compactMap { fact in
            fact.other.map {
                let parties = (customers.canonical($0), customers.canonical(fact.subject))
                return Ownership.Step(fact, .transfer(from: parties.0, to: parties.1))
            }
        }
        return Ownership(steps, passedOver: accounts.passedOver, catalogs)
    }
}
