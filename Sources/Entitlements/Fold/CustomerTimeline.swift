import Encodings

/// One customer over effective time, as known at R: everything that answers are looked up in
/// (law 3).
package struct CustomerTimeline: Sendable {
    /// The name at the end of the links (C2), as a number.
    package let customer: UInt64
    /// The purchases that the customer owns at some time.
    package let purchases: [OwnedPurchase]
    /// C3: the newest of each id, in the order of their sequence.
    package let grants: [Grant]
    /// C4: the first of each id.
    package let trials: [Trial]
    /// C5: uses that are not reversed.
    package let uses: [Use]
    /// The catalogs as this customer sees them (K8).
    package let catalogs: CatalogHistory
    /// All that unlocks something.
    package let stretches: [AccessStretch]

    /// A purchase and when this customer owns it.
    package struct OwnedPurchase: Sendable {
        /// The purchase over time.
        package var timeline: PurchaseTimeline
        /// When the customer owns it (C1).
        package var ownership: [Interval]
    }

    /// Access given by hand (C3).
    package struct Grant: Sendable {
        /// Sequence of the newest `grant.given`, which names the id.
        package var sequence: UInt64
        /// Its stretch, cut at a withdrawal.
        package var interval: Interval
        /// Features by id.
        package var features: [String]
        /// A tier's name.
        package var tier: String?
    }

    /// An app's trial (C4).
    package struct Trial: Sendable {
        /// The catalog's trial id.
        package var id: String
        /// Its stretch; empty where the catalog does not know it.
        package var interval: Interval
        /// Features by id.
        package var features: [String]
        /// A tier's name.
        package var tier: String?
    }

    /// A use of a limited feature (C5).
    package struct Use: Sendable {
        /// The feature.
        package var featureID: String
        /// When.
        package var time: Instant
    }

    /// Folds the facts that concern a customer.
    ///
    /// - Parameters:
    ///   - customer: any name of the customer.
    ///   - facts: at least all facts of one environment about the customer's names, the purchases
    ///     that may be theirs and whoever else owned these; more changes nothing. Ascending by
    ///     sequence.
    ///   - names: the texts of the facts.
    ///   - catalogs: of the same prefix.
    ///   - position: K8's x for an experiment's id and this customer's name.
    package init(
        of customer: UInt64,
        facts: [Fact],
        names: FactNames,
        catalogs: CatalogHistory,
        position: (_ experiment: String) -> UInt64
    ) {
        let customers = Links(facts, of: .customerLinked)
        let canonical = customers.canonical(customer)
        self.customer = canonical
        let seen = catalogs.seen(position: position)
        self.catalogs = seen
        purchases = Self.purchases(
            of: canonical,
            facts,
            names,
            customers,
            catalogs
        )
        let own = facts.filter { fact in
            switch fact.kind {
            case .grantGiven, .grantWithdrawn, .trialStarted, .usageRecorded, .usageReversed:
                customers.canonical(fact.subject) == canonical
            default: false
            }
        }
        grants = Self.grants(own, names)
        trials = Self.trials(own, names, seen)
        uses = Self.uses(own, names)
        stretches = Self.stretches(purchases, grants, trials)
    }

    /// P13 and C1: the purchases that the customer owns at some time.
    private static func purchases(
        of customer: UInt64,
        _ facts: [Fact],
        _ texts: FactNames,
        _ customers: Links,
        _ catalogs: CatalogHistory
    ) -> [OwnedPurchase] {
        let names = Links(facts, of: .purchaseLinked)
        let claims = FactsByPurchase(facts) { fact in
            switch fact.kind {
            case .customerClaimed, .customerReleased: fact.other.map(names.canonical)
            default: nil
            }
        }
        let transfers = facts.filter { $0.kind == .customerTransferred }
        var owned: [(purchase: UInt64, stretches: [Interval])] = []
        claims.forEach { purchase, claims in
            let walk = Ownership(claims: claims, transfers: transfers, customers: customers)
            let stretches = walk.stretches(of: customer)
            if !stretches.isEmpty { owned.append((purchase, stretches)) }
        }
        guard !owned.isEmpty else { return [] }
        let statements = FactsByPurchase(facts) { fact in
            fact.store == nil ? nil : names.canonical(fact.subject)
        }
        return owned.map { purchase, stretches in
            OwnedPurchase(
                timeline: PurchaseTimeline(
                    number: purchase,
                    facts: statements[purchase],
                    names: texts,
                    catalogs: catalogs
                ),
                ownership: stretches
            )
        }
    }

    /// The grants, each by the newest `grant.given` of its id (C3).
    private static func grants(_ facts: [Fact], _ names: FactNames) -> [Grant] {
        var newest: [UInt64: Fact] = [:]
        for fact in facts where fact.kind == .grantGiven {
            guard let id = fact.item else { continue }
            if newest[id].map({ fact.isNewer(than: $0) }) ?? true { newest[id] = fact }
        }
        return newest.map { id, given in
            let withdrawal = facts.lazy
                .filter { $0.kind == .grantWithdrawn && $0.item == id && $0.time >= given.time }
                .map(\.time).min()
            return Grant(
                sequence: given.sequence,
                interval: Interval(
                    start: given.time,
                    end: Instant.earlier(given.end, withdrawal).map { max($0, given.time) }
                ),
                features: given.features.map(names.list) ?? [],
                tier: given.tier.map { names[$0] }
            )
        }
        .sorted { $0.sequence < $1.sequence }
    }

    /// The trials, each by the first `trial.started` of its id (C4).
    private static func trials(
        _ facts: [Fact],
        _ names: FactNames,
        _ catalogs: CatalogHistory
    ) -> [Trial] {
        var trials: [Trial] = []
        for fact in facts.filter({ $0.kind == .trialStarted }).sorted(by: Fact.inTime) {
            guard let id = fact.label.map({ names[$0] }),
                !trials.contains(where: { $0.id.isSame(as: id) })
            else { continue }
            trials.append(Trial(id: id, start: fact.time, catalogs))
        }
        return trials
    }

    /// The uses that count: those that were reversed are left out (C5).
    private static func uses(_ facts: [Fact], _ names: FactNames) -> [Use] {
        let reversed = Set(facts.lazy.filter { $0.kind == .usageReversed }.compactMap(\.item))
        return facts.compactMap { fact in
            guard fact.kind == .usageRecorded, let feature = fact.label, let id = fact.item,
                !reversed.contains(id)
            else { return nil }
            return Use(featureID: names[feature], time: fact.time)
        }
    }
}
