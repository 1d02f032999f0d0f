import Entitlements
import EventLog

/// Claims of a purchase and its owner when all is said (C1).
struct PurchaseOwnership {
    private(set) var claims: [Fact]
    private let transfers: [Fact]
    private let purchase: UInt64
    let customers: Links
    private(set) var owner: UInt64?

    init(purchase: UInt64, facts: [Fact]) {
        let names = Links(facts, of: .purchaseLinked)
        let canonical = names.canonical(purchase)
        self.purchase = canonical
        customers = Links(facts, of: .customerLinked)
        claims = facts.filter { fact in
            (fact.kind == .customerClaimed || fact.kind == .customerReleased)
                && fact.other.map(names.canonical) == canonical
        }
        transfers = facts.filter { $0.kind == .customerTransferred }
        owner = nil
        walk()
    }

    /// Adds a claim that is about to be recorded, behind all others.
    mutating func add(claimBy customer: UInt64, at time: Instant, observedAt: Instant) {
        var claim = Fact(
            sequence: .max,
            kind: .customerClaimed,
            time: time,
            observedAt: observedAt,
            subject: customer
        )
        claim.other = purchase
        claims.append(claim)
        walk()
    }

    private mutating func walk() {
        owner = Ownership(claims: claims, transfers: transfers, customers: customers).last
    }

    /// Whether a customer claimed it before, under any name.
    func wasClaimed(by customer: UInt64) -> Bool {
        let canonical = customers.canonical(customer)
        return claims.contains {
            $0.kind == .customerClaimed && customers.canonical($0.subject) == canonical
        }
    }
}

/// What a claim comes to (C1).
enum ClaimRight {
    /// The purchase is the customer's already.
    case isOwner
    /// Nobody owns it, or the policy lets it move.
    case mayClaim
    /// Another owns it and keeps it.
    case ownedByAnother(UInt64)
}

extension DecisionReader {
    /// What a customer's claim comes to under `policy.claim` of the catalog in force at an instant.
    ///
    /// `customer`: nil for one of whom nothing was ever recorded.
    mutating func right(
        of customer: UInt64?,
        to ownership: PurchaseOwnership,
        at instant: Instant
    ) throws -> ClaimRight {
        guard let owner = ownership.owner else { return .mayClaim }
        if owner == customer.map(ownership.customers.canonical) { return .isOwner }
        let policy = try catalogs().catalog(at: instant)?.policy.claim ?? .keep
        return policy == .keep ? .ownedByAnother(owner) : .mayClaim
    }
}

extension Refusal {
    /// Whom it belongs to is not said: support learns it elsewhere.
    static let claimedByAnother = Refusal(
        .claimedByAnother,
        "purchase",
        "another customer owns this purchase"
    )
}
