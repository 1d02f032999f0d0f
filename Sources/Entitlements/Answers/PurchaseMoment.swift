/// What the purchase of an event is from the event on, as known at R.
package struct PurchaseMoment: Sendable, Hashable {
    /// The product of the period that the event speaks of; nil: there is none.
    package var productID: String?
    /// The status at the event's time (P9).
    package var status: PurchaseStatus
    /// Since when a refund or revocation takes back what the period gives (P6); nil: none does.
    package var revokedAt: Instant?
    /// Who owns it at the event's time (C1), as a number; nil: nobody.
    package var owner: UInt64?
}

/// What a customer's purchases are at the times of the events about them.
package struct PurchaseMoments: Sendable {
    private let purchases: [UInt64: PurchaseTimeline]
    private let owners: [UInt64: Ownership]
    /// By sequence; of a transfer from several any.
    private let facts: [UInt64: Fact]
    /// Names of one purchase (P13).
    private let names: Links

    /// Keeps what events are looked up in.
    ///
    /// `timeline`: the customer's, made of these facts.
    package init(_ timeline: CustomerTimeline, _ facts: [Fact]) {
        var purchases: [UInt64: PurchaseTimeline] = [:]
        var owners: [UInt64: Ownership] = [:]
        for purchase in timeline.purchases {
            purchases[purchase.timeline.number] = purchase.timeline
            owners[purchase.timeline.number] = purchase.owners
        }
        names = Links(facts, of: .purchaseLinked)
        self.purchases = purchases
        self.owners = owners
        self.facts = Dictionary(facts.map { ($0.sequence, $0) }) { first, _ in first }
    }

    /// What the purchase of an event is; nil: it is about none that the customer owns at some time.
    ///
    /// `subject`: the stream that the event is about. Cost: linear in the purchase's statements.
    package func moment(
        ofEvent sequence: UInt64,
        about subject: UInt64,
        at time: Instant
    ) -> PurchaseMoment? {
        let fact = facts[sequence]
        let number = names.canonical(fact?.claimedPurchase ?? subject)
        guard let purchase = purchases[number] else { return nil }
        let index =
            fact.flatMap { $0.transaction == nil ? nil : purchase.periods.index(spokenOfBy: $0) }
        let period = index.map { purchase.periods[$0] } ?? purchase.period(at: time)
        return PurchaseMoment(
            productID: period?.productID,
            status: purchase.status(at: time),
            // One with an end was reversed.
            revokedAt: period?.revocations.filter { $0.interval.end == nil }
                .max { $1.statement.isNewer(than: $0.statement) }?.interval.start,
            owner: owners[number]?.owner(at: time)
        )
    }
}

extension Fact {
    /// The purchase that a claim or release names.
    fileprivate var claimedPurchase: UInt64? {
        kind == .customerClaimed || kind == .customerReleased ? other : nil
    }
}
