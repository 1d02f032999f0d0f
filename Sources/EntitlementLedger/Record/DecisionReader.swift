import Entitlements
import EventLog

/// What decisions at append are made against: the log as it stands, and what was read of it (E4).
struct DecisionReader {
    let ledger: Ledger
    let environment: StoreEnvironment
    let size: UInt64
    private var read: [UInt64: UInt64?] = [:]

    init(_ ledger: Ledger, _ environment: StoreEnvironment) throws {
        self.ledger = ledger
        self.environment = environment
        size = try ledger.log.end().size
        if ledger.views.end < size { try ledger.views.catchUp() }
    }

    /// The streams that the decision relied on, as they stood.
    var expectations: [SealedSubmission.Expectation] {
        read.map { SealedSubmission.Expectation(stream: $0.key, lastSequence: $0.value) }
    }

    private var loader: FactLoader {
        FactLoader(log: ledger.log, vault: ledger.vault, views: ledger.views, size: size)
    }

    private mutating func note(_ loader: FactLoader) {
        read.merge(loader.lastSequences) { known, _ in known }
    }

    func stream(_ subject: Subject) throws -> UInt64 {
        try ledger.vault.reserveStream(
            of: StreamName(environment: environment.rawValue, subject: subject.description)
        )
    }

    /// The catalogs, which a decision relies on too.
    mutating func catalogs() throws -> CatalogHistory {
        read[StreamNumber.catalog] = try ledger.views.lastSequence(of: StreamNumber.catalog)
        return try ledger.catalogHistory(size: size)
    }

    /// Facts about a customer.
    mutating func facts(ofCustomer customer: String) throws -> (stream: UInt64, facts: [Fact]) {
        var loader = loader
        let stream = try stream(.customer(customer))
        let facts = try loader.facts(ofCustomer: stream)
        note(loader)
        return (stream, facts)
    }

    /// How a purchase is owned (C1).
    mutating func ownership(of purchase: PurchaseName) throws -> PurchaseOwnership {
        var loader = loader
        let stream = try stream(.purchase(purchase))
        let facts = try loader.facts(ofPurchase: stream)
        note(loader)
        return PurchaseOwnership(purchase: stream, facts: facts)
    }
}

/// Claims of a purchase and its owner when all is said (C1).
struct PurchaseOwnership {
    let claims: [Fact]
    let customers: Links
    let owner: UInt64?
    /// Whether any event names the purchase.
    let isKnown: Bool

    init(purchase: UInt64, facts: [Fact]) {
        let names = Links(facts.filter { $0.kind == .purchaseLinked })
        let canonical = names.canonical(purchase)
        let customers = Links(facts.filter { $0.kind == .customerLinked })
        claims = facts.filter { fact in
            (fact.kind == .customerClaimed || fact.kind == .customerReleased)
                && fact.other.map(names.canonical) == canonical
        }
        self.customers = customers
        owner =
            Ownership(
                claims: claims,
                transfers: facts.filter { $0.kind == .customerTransferred },
                customers: customers
            ).last
        isKnown = !facts.isEmpty
    }

    /// Whether a customer claimed it before, under any name.
    func wasClaimed(by customer: UInt64) -> Bool {
        let canonical = customers.canonical(customer)
        return claims.contains {
            $0.kind == .customerClaimed && customers.canonical($0.subject) == canonical
        }
    }
}
