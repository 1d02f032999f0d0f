import Encodings

/// Explains decisions about one customer, as known at R (row Z2).
///
/// It folds the facts as every answer does and reads off what decided: whatever it says of a period,
/// an owner or a gate is the fold's own value, and the statements behind it are found by that value.
package struct Explainer {
    /// What the facts make of the customer.
    package let timeline: CustomerTimeline
    /// Ascending by sequence.
    let facts: [Fact]
    let names: FactNames
    /// Names of one customer (C2).
    let customers: Links
    /// Names of one purchase (P13).
    let purchaseNames: Links
    /// The name that was asked for.
    let asked: UInt64
    /// The catalogs before experiments.
    let catalogs: CatalogHistory
    let position: (String) -> UInt64
    /// The customer's `grant.withdrawn`.
    let withdrawals: [Fact]
    /// The customer's `trial.started`, in C4's order.
    let trialStarts: [Fact]

    /// Sources that are told step by step; others are named among what was not used.
    package static let chainLimit = 20
    /// Sources that are told where none unlocks the feature.
    package static let missingChainLimit = 3
    /// What is named as not used, at most.
    package static let unusedLimit = 100
    /// Products that are named as ways to a feature.
    package static let productLimit = 10

    /// Folds the facts that concern a customer; the parameters are those of `CustomerTimeline`.
    ///
    /// - Parameters:
    ///   - customer: any name of the customer.
    ///   - facts: all that concerns the customer, ascending by sequence.
    ///   - names: the texts of the facts.
    ///   - catalogs: of the same prefix.
    ///   - position: K8's x for an experiment's id and this customer's name.
    package init(
        of customer: UInt64,
        facts: [Fact],
        names: FactNames,
        catalogs: CatalogHistory,
        position: @escaping (_ experiment: String) -> UInt64
    ) {
        asked = customer
        self.facts = facts
        self.names = names
        self.catalogs = catalogs
        self.position = position
        let customers = Links(facts, of: .customerLinked)
        self.customers = customers
        purchaseNames = Links(facts, of: .purchaseLinked)
        let canonical = customers.canonical(customer)
        withdrawals = facts.filter {
            $0.kind == .grantWithdrawn && customers.canonical($0.subject) == canonical
        }
        trialStarts = facts.filter {
            $0.kind == .trialStarted && customers.canonical($0.subject) == canonical
        }
        .sorted(by: Fact.inTime)
        timeline = CustomerTimeline(
            of: customer,
            facts: facts,
            names: names,
            catalogs: catalogs,
            position: position
        )
    }

    /// What an asker may see of the customer.
    package func view(_ visibility: Visibility) -> CustomerView {
        CustomerView(visibility, of: timeline, facts)
    }

    /// Why the customer has or lacks a feature at an instant.
    ///
    /// Cost: some passes over the facts for each source that is told and one for each step, one fold more
    /// where an event stands in the way.
    ///
    /// - Parameters:
    ///   - feature: its id.
    ///   - instant: T.
    ///   - state: what the timeline says of that instant.
    ///   - view: for whom the stores' completeness is told, and until when all of it stands; the rest is
    ///     cut by `Explanation.shown`.
    /// - Returns: nil where no catalog ever listed the feature.
    package func explanation(
        of feature: String,
        at instant: Instant,
        in state: CustomerState,
        to view: CustomerView = .everything
    ) -> Explanation? {
        guard catalogs.publications.contains(where: { $0.catalog.featureIndex(feature) != nil })
        else { return nil }
        let decision = state.features.first { $0.id.isSame(as: feature) }
        var explanation = Explanation(
            feature: feature,
            at: instant,
            decision: decision,
            steps: opening(feature, at: instant),
            wouldChange: [],
            notUsed: [],
            completeness: completeness(to: view)
        )
        explanation.catalog = timeline.catalogs.index(at: instant)
            .map { timeline.catalogs.publications[$0].catalog }
        guard let decision, var gate = Gate(feature, at: instant, timeline) else {
            explanation.wouldChange = [
                Explanation.Change(topic: .general, kind: .listing, isEnough: true)
            ]
            explanation.validUntil = validUntil(of: explanation, to: view)
            return explanation
        }
        gate.view = view
        let told = decision.isAllowed ? allowed(decision, gate) : refused(gate)
        explanation.steps += told.steps
        if let usedUp = usedUp(decision) { explanation.steps.append(usedUp) }
        explanation.steps = explanation.steps.map { dated($0, at: instant) }
        explanation.wouldChange = changes(told, decision, gate)
        explanation.notUsed = Array((told.unused + passedOver(told)).prefix(Self.unusedLimit))
        explanation.validUntil = validUntil(of: explanation, to: view)
        return explanation
    }

    /// The gate of one feature at an instant.
    struct Gate {
        var feature: String
        var instant: Instant
        /// Index of the catalog in `CatalogHistory.publications`.
        var catalogIndex: Int
        var catalog: Catalog
        /// Index of the feature in `Catalog.features`.
        var index: Int
        /// Place in the log of the catalog in force.
        var publication: UInt64
        var reader: GateReader
        var gates: Gates
        /// What becomes of a purchase while it is another's than whoever asks is told counts for nothing.
        var view = CustomerView.everything

        /// Nil where the catalog in force does not list the feature.
        init?(_ feature: String, at instant: Instant, _ timeline: CustomerTimeline) {
            var reader = GateReader(timeline)
            let gates = reader.gates(at: instant)
            guard let number = gates.catalog else { return nil }
            let catalog = timeline.catalogs.publications[number].catalog
            guard let index = catalog.featureIndex(feature) else { return nil }
            self.feature = feature
            self.instant = instant
            self.catalogIndex = number
            self.catalog = catalog
            publication = timeline.catalogs.publications[number].sequence
            self.index = index
            self.reader = reader
            self.gates = gates
        }

        /// The name of the tier that the feature takes.
        var level: String { catalog.tiers[catalog.features[index].level] }
    }

    /// What is told of the sources.
    struct Told {
        var chains: [Chain] = []
        var steps: [Explanation.Step] = []
        var unused: [Explanation.Unused] = []
    }

    // MARK: The catalog

    /// K1, K8: what the feature takes.
    private func opening(_ feature: String, at instant: Instant) -> [Explanation.Step] {
        guard let index = timeline.catalogs.index(at: instant) else { return [] }
        let publication = timeline.catalogs.publications[index]
        let catalog = publication.catalog
        func step(_ effect: Explanation.Effect) -> Explanation.Step {
            Explanation.Step(
                topic: .general,
                effect: effect,
                sequence: publication.sequence,
                time: publication.time
            )
        }
        guard let place = catalog.featureIndex(feature) else { return [step(.isNotListed)] }
        let level = catalog.features[place].level
        let first = step(level == 0 ? .isFree : .requires(tier: catalog.tiers[level]))
        let variants = catalogs.publications[index].catalog.experiments.compactMap { experiment in
            experiment.variant(at: position(experiment.id)).map { (experiment.id, $0) }
        }
        // The last that changes the level wins.
        let winner = variants.last { _, variant in
            variant.overrides.contains { $0.feature.isSame(as: feature) && $0.level != nil }
        }
        return [first] + (winner.map { [step(.variant(experiment: $0, id: $1.id))] } ?? [])
    }

    // MARK: Yes

    private func allowed(_ decision: CustomerState.FeatureState, _ gate: Gate) -> Told {
        // K5: what everybody has rests on nothing else.
        guard decision.reason != .free else { return Told() }
        var told = Told()
        let giving = decision.sources.sorted { $0.reason < $1.reason }
        let end = Gate(
            gate.feature,
            at: decision.until?.advanced(byMilliseconds: -1) ?? .latest,
            timeline
        )
        let lasting = end.map { givers($0) } ?? []
        told.chains = giving.prefix(Self.chainLimit).compactMap { chain(of: $0, lasting, gate) }
        told.steps = steps(of: told.chains)
        if let end { told.steps += laterSteps(told, lasting, at: end.instant, gate) }
        told.unused = chains(gate) { !giving.contains($0) }.compactMap(\.unused)
        return told
    }

    // MARK: No

    private func refused(_ gate: Gate) -> Told {
        var told = Told()
        let all = chains(gate) { _ in true }.sorted { $0.isNearer(than: $1) }
        told.chains = all.prefix(Self.missingChainLimit).map { completed($0, gate) }
        told.steps = steps(of: told.chains)
        if told.chains.isEmpty {
            told.steps.append(
                Explanation.Step(topic: .general, effect: .nothing, sequence: nil, time: nil)
            )
        }
        told.unused = all.dropFirst(Self.missingChainLimit).compactMap(\.unused)
        return told
    }

    /// The steps of chains one after the other; what several rest on is told once.
    private func steps(of chains: [Chain]) -> [Explanation.Step] {
        var met: Set<Explanation.Step> = []
        return chains.flatMap(\.steps).filter { met.insert($0).inserted }
    }

    private func usedUp(_ decision: CustomerState.FeatureState) -> Explanation.Step? {
        guard decision.refusal == .usedUp, let limit = decision.limit,
            let period = limit.perPeriod
        else { return nil }
        return Explanation.Step(
            topic: .general,
            effect: .usedUp(
                count: period.count,
                period: period.period,
                resetsAt: limit.resetsAt
            ),
            sequence: nil,
            time: nil
        )
    }

    // MARK: Facts

    /// The fact of an event; of a transfer, the first.
    func fact(_ sequence: UInt64) -> Fact? {
        var (low, high) = (0, facts.count)
        while low < high {
            let middle = low + (high - low) / 2
            if facts[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low < facts.count && facts[low].sequence == sequence ? facts[low] : nil
    }
}
