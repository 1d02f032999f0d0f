import Encodings

/// One customer over effective time, as known at R: everything that answers are looked up in
/// (law 3).
package struct CustomerTimeline: Sendable {
    /// The name at the end of the links (C2), as a number.
    package let customer: UInt64
    /// The purchases that the customer owns at some time, in the order of their numbers.
    package let purchases: [OwnedPurchase]
    /// Those that the customer would own at some time under another `policy.claim`.
    let contested: [OwnedPurchase]
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
        /// Who owns it (C1).
        package var owners: Ownership
        /// When the customer owns it.
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
        let owners = OwnerFacts(facts, catalogs: catalogs)
        let customers = owners.customers
        let canonical = customers.canonical(customer)
        self.customer = canonical
        let seen = catalogs.seen(position: position)
        self.catalogs = seen
        (purchases, contested) = Self.purchases(
            of: canonical,
            facts,
            names,
            owners,
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

    /// P13 and C1: the purchases that the customer owns at some time, and those that they might.
    private static func purchases(
        of customer: UInt64,
        _ facts: [Fact],
        _ texts: FactNames,
        _ owners: OwnerFacts,
        _ catalogs: CatalogHistory
    ) -> (owned: [OwnedPurchase], contested: [OwnedPurchase]) {
        var found: [(purchase: UInt64, owners: Ownership)] = []
        owners.forEach { purchase, ownership in
            if ownership.names(customer) { found.append((purchase, ownership)) }
        }
        guard !found.isEmpty else { return ([], []) }
        let statements = FactsByPurchase(facts) { fact in
            fact.store == nil ? nil : owners.purchases.canonical(fact.subject)
        }
        var (owned, contested): ([OwnedPurchase], [OwnedPurchase]) = ([], [])
        for (purchase, owners) in found {
            let stretches = owners.stretches(of: customer)
            guard !stretches.isEmpty || owners.restsOnPolicy else { continue }
            let known = OwnedPurchase(
                timeline: PurchaseTimeline(
                    number: purchase,
                    facts: statements[purchase],
                    names: texts,
                    catalogs: catalogs
                ),
                owners: owners,
                ownership: stretches
            )
            if stretches.isEmpty { contested.append(known) } else { owned.append(known) }
        }
        return (owned, contested)
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
