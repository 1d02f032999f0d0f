/// Who owns a purchase over effective time (C1).
package struct Ownership: Sendable {
    /// From an instant on, somebody else owns the purchase.
    struct Change: Sendable {
        var time: Instant
        var owner: UInt64?
        /// Place in the log of the claim, release or transfer.
        var sequence: UInt64
        /// Whether it takes from the owner before it, so that it rests on what made that one owner.
        var restsOnEarlier: Bool
    }

    /// The owner before any change; nil: nobody.
    let first: UInt64?
    /// Place in the log of the claim that made them owner since ever.
    let firstClaim: UInt64?
    /// Ascending by time.
    let changes: [Change]

    /// Walks claims, releases and transfers.
    ///
    /// - Parameters:
    ///   - claims: the `customer.claimed` and `customer.released` of the purchase.
    ///   - transfers: every `customer.transferred` that may concern it; others change nothing.
    ///   - customers: names of one customer (C2).
    package init(claims: [Fact], transfers: [Fact], customers: Links) {
        let ordered = (claims + transfers).sorted(by: Fact.inTime)
        let claim = ordered.first { $0.kind == .customerClaimed }
        first = claim.map { customers.canonical($0.subject) }
        firstClaim = claim?.sequence
        var owner = first
        guard first != nil else {
            changes = []
            return
        }
        var changes: [Change] = []
        for fact in ordered {
            let customer = customers.canonical(fact.subject)
            switch fact.kind {
            case .customerClaimed: owner = customer
            case .customerReleased where owner == customer: owner = nil
            case .customerTransferred
            where owner != nil && fact.other.map(customers.canonical) == owner:
                owner = customer
            default: continue
            }
            changes.append(
                Change(
                    time: fact.time,
                    owner: owner,
                    sequence: fact.sequence,
                    restsOnEarlier: fact.kind != .customerClaimed
                )
            )
        }
        self.changes = changes
    }

    /// The owner when all is said (E4's decisions are made against it).
    package var last: UInt64? { changes.isEmpty ? first : changes.last?.owner }

    /// The stretches in which a customer owns the purchase, joined where they touch.
    package func stretches(of customer: UInt64) -> [Interval] {
        var stretches: [Interval] = []
        var start = first == customer ? Instant(milliseconds: .min) : nil
        for change in changes {
            if change.owner == customer {
                if start == nil { start = change.time }
            } else if let since = start {
                if since < change.time {
                    stretches.append(Interval(start: since, end: change.time))
                }
                start = nil
            }
        }
        if let start { stretches.append(Interval(start: start, end: nil)) }
        return stretches
    }
    /// The sequences that decide who owns the purchase at an instant, in their order: what made the
    /// owner one and, where that takes from another, what had made that one owner.
    func decisive(at instant: Instant) -> [UInt64] {
        var sequences: [UInt64] = []
        let passed = changes.prefix { $0.time <= instant }
        for change in passed.reversed() {
            sequences.append(change.sequence)
            if !change.restsOnEarlier { return sequences.reversed() }
        }
        if let firstClaim { sequences.append(firstClaim) }
        return sequences.reversed()
    }

    /// The owner at an instant; nil: nobody.
    func owner(at instant: Instant) -> UInt64? {
        changes.last { $0.time <= instant }.map(\.owner) ?? first
    }
}
