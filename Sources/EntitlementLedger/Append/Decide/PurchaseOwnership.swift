import Entitlements
import EventLog

/// A purchase's owner when all is said (C1).
struct PurchaseOwnership {
    let customers: Links
    /// nil: nobody.
    let owner: UInt64?
    private let ownership: Ownership

    /// `facts`: all about the purchase, and whoever may own it.
    ///
    /// `catalogs`: those that are known.
    init(purchase: UInt64, facts: [Fact], catalogs: CatalogHistory) {
        let owners = OwnerFacts(facts, catalogs: catalogs)
        customers = owners.customers
        ownership = owners.ownership(of: purchase)
        owner = ownership.last
    }

    /// The owner at an instant; nil: nobody.
    func owner(at instant: Instant) -> UInt64? { ownership.owner(at: instant) }
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

    /// How a purchase is owned, once some drafts stand that are about to be recorded.
    ///
    /// `facts`: all about the purchase.
    mutating func ownership(
        of purchase: UInt64,
        _ facts: [Fact],
        after drafts: [EventDraft] = []
    ) throws -> PurchaseOwnership {
        var facts = facts
        let canonical = Links(facts, of: .purchaseLinked).canonical(purchase)
        let keys = try resolver.keys(of: canonical)
        for (place, draft) in drafts.enumerated() {
            // Behind everything that stands, in their order.
            let sequence = UInt64.max - UInt64(drafts.count - place)
            if let link = try link(draft, at: sequence, &facts) { facts.append(link) }
            guard draft.kind.givesPeriod else { continue }
            var fact = Fact(
                sequence: sequence,
                kind: draft.kind,
                time: draft.time,
                observedAt: draft.observedAt,
                subject: purchase
            )
            fact.transaction = draft.data.text(.transactionID).flatMap { keys?.tag($0) }
            if let account = draft.data.account {
                let (stream, known) = try self.facts(mentioning: account)
                fact.other = stream
                facts.merge(known)
            }
            facts.append(fact)
        }
        return PurchaseOwnership(purchase: purchase, facts: facts, catalogs: try catalogs())
    }

    /// The link that a draft makes of two purchases; nil: it makes none.
    ///
    /// `facts`: gets all about both, since from then on they are one and have one owner (P13, C1).
    private mutating func link(
        _ draft: EventDraft,
        at sequence: UInt64,
        _ facts: inout [Fact]
    ) throws -> Fact? {
        guard draft.kind == .purchaseLinked, case .purchase(let name) = draft.subject,
            let alias = draft.data.text(.alias).flatMap({ PurchaseName($0) })
        else { return nil }
        let (stream, known) = try self.facts(ofPurchase: name)
        let (other, others) = try self.facts(ofPurchase: alias)
        facts.merge(known)
        facts.merge(others)
        var fact = Fact(
            sequence: sequence,
            kind: .purchaseLinked,
            time: draft.time,
            observedAt: draft.observedAt,
            subject: stream
        )
        fact.other = other
        return fact
    }
}

extension EventData {
    /// Whom the store names for a period's transaction (C1).
    fileprivate var account: CustomerID? { text(.account).flatMap { CustomerID($0) } }
}

extension [Fact] {
    /// Adds those of other events; ascending by sequence again.
    fileprivate mutating func merge(_ others: [Fact]) {
        let known = Set(map(\.sequence))
        self = (self + others.filter { !known.contains($0.sequence) })
            .sorted { $0.sequence < $1.sequence }
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
