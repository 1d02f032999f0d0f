import Encodings

extension Explainer {
    /// A source and what it rests on, with whatever stands in its way at T.
    struct Chain {
        var source: AccessSource
        var topic: Explanation.Topic
        /// In order.
        var steps: [Explanation.Step] = []
        /// What stands in the way, in the order of P9; none: it unlocks the feature.
        var obstacles: [Obstacle] = []
        /// The period in question, of `PurchaseTimeline.periods`.
        var period: Int?
        /// Orders chains that are equally near.
        var start: Instant?

        /// Something that stands in the way.
        struct Obstacle {
            var effect: Explanation.Effect
            /// What would take it out of the way; nil: time alone, or nothing.
            var change: Explanation.Change.Kind?
            /// The event that it comes from.
            var sequence: UInt64?
            /// The catalog that says so, in place of an event.
            var catalog: UInt64?
            /// When it set in.
            var time: Instant?
        }

        /// Whether less is missing than of another; among equals the later one.
        func isNearer(than other: Chain) -> Bool {
            let (mine, theirs) = (weight, other.weight)
            if mine != theirs { return mine < theirs }
            let (left, right) = (start ?? .earliest, other.start ?? .earliest)
            return left == right ? topic.order < other.topic.order : left > right
        }

        /// What lacks the feature itself is further away than what lacks anything else.
        private var weight: Int {
            obstacles.reduce(0) { sum, obstacle in
                switch obstacle.effect {
                case .isLocked, .isUnmapped, .isConsumable: sum + 100
                case .nothingBought: sum + 1000
                default: sum + 1
                }
            }
        }

        /// The obstacle that is named where the chain is not told.
        var unused: Explanation.Unused? {
            obstacles.first.map {
                Explanation.Unused(
                    topic: topic,
                    reason: .blocked($0.effect),
                    sequence: $0.sequence ?? $0.catalog
                )
            }
        }

        /// Adds a step for an obstacle.
        mutating func addStep(_ obstacle: Obstacle) {
            steps.append(
                Explanation.Step(
                    topic: topic,
                    effect: obstacle.effect,
                    sequence: obstacle.sequence ?? obstacle.catalog,
                    time: obstacle.time
                )
            )
        }
    }

    /// The chains of all sources that a body lets through, without what needs a walk of its own.
    func chains(_ gate: Gate, where isWanted: (AccessSource) -> Bool) -> [Chain] {
        var chains: [Chain] = []
        for purchase in timeline.purchases where isWanted(.purchase(purchase.timeline.number)) {
            chains += outline(purchase, gate)
        }
        for grant in timeline.grants where isWanted(.grant(grant.sequence)) {
            chains.append(chain(of: grant, gate))
        }
        for trial in timeline.trials where isWanted(.trial(trial.id)) {
            chains.append(chain(of: trial, gate))
        }
        return chains
    }

    /// The chain of a source that unlocks the feature.
    ///
    /// `lasting`: what holds the gate open at the end of the yes. Of several periods of a purchase
    /// one of these is told, else the last.
    func chain(of source: AccessSource, _ lasting: [Giver], _ gate: Gate) -> Chain? {
        switch source {
        case .purchase(let number):
            guard let purchase = timeline.purchases.first(where: { $0.timeline.number == number })
            else { return nil }
            let giving = purchase.timeline.periods.indices.filter { index in
                purchase.timeline.periods[index].access.contains { $0.contains(gate.instant) }
                    && unlocking(purchase.timeline, index, gate) != nil
            }
            let told = giving.last { index in
                lasting.contains { $0.source == source && $0.period == index }
            }
            return (told ?? giving.last).map {
                completed(outline(purchase, period: $0, gate), gate)
            }
        case .grant(let sequence):
            return timeline.grants.first { $0.sequence == sequence }.map { chain(of: $0, gate) }
        case .trial(let id):
            return timeline.trials.first { $0.id.isSame(as: id) }.map { chain(of: $0, gate) }
        }
    }

    // MARK: Grants and trials

    /// A grant, from its `grant.given` to its end (C3).
    private func chain(of grant: CustomerTimeline.Grant, _ gate: Gate) -> Chain {
        var chain = Chain(
            source: .grant(grant.sequence),
            topic: .grant(grant.sequence),
            start: grant.interval.start
        )
        let given = fact(grant.sequence)
        chain.steps = given.map { linkSteps(ofCustomer: $0.subject) } ?? []
        chain.steps.append(
            Explanation.Step(
                topic: chain.topic,
                // While it holds its end is the one that is known: it may have been withdrawn.
                effect: .granted(
                    start: grant.interval.start,
                    end: grant.interval.contains(gate.instant) ? grant.interval.end : given?.end
                ),
                sequence: grant.sequence,
                time: grant.interval.start
            )
        )
        if let end = grant.interval.end, end <= gate.instant {
            let withdrawal = withdrawal(of: given, at: end)
            chain.obstacles.append(
                Chain.Obstacle(
                    effect: withdrawal == nil ? .ended(at: end) : .withdrawn(at: end),
                    change: .grant,
                    sequence: withdrawal,
                    time: end
                )
            )
        }
        finish(&chain, grant.interval, features: grant.features, tier: grant.tier, gate)
        return chain
    }

    /// The withdrawal that cut a grant.
    func withdrawal(of given: Fact?, at end: Instant) -> UInt64? {
        guard let given else { return nil }
        return withdrawals.first { $0.item == given.item && $0.time == end }?.sequence
    }

    /// A trial, from its start to the end of its days (C4).
    private func chain(of trial: CustomerTimeline.Trial, _ gate: Gate) -> Chain {
        var chain = Chain(
            source: .trial(trial.id),
            topic: .trial(trial.id),
            start: trial.interval.start
        )
        let started = trialStart(trial.id)
        // What it gives says the catalog in force when it began.
        let granting = timeline.catalogs.index(at: trial.interval.start) ?? gate.catalogIndex
        chain.steps = started.map { linkSteps(ofCustomer: $0.subject) } ?? []
        chain.steps.append(
            Explanation.Step(
                topic: chain.topic,
                effect: .trial(start: trial.interval.start, end: trial.interval.end),
                sequence: started?.sequence,
                time: trial.interval.start
            )
        )
        if trial.interval.isEmpty {
            chain.obstacles.append(
                Chain.Obstacle(
                    effect: .isUnmapped,
                    change: nil,
                    catalog: timeline.catalogs.publications[granting].sequence
                )
            )
        } else if let end = trial.interval.end, end <= gate.instant {
            chain.obstacles.append(
                Chain.Obstacle(effect: .ended(at: end), change: nil, time: end)
            )
        }
        finish(
            &chain,
            trial.interval,
            features: trial.features,
            tier: trial.tier,
            gate,
            granting: granting
        )
        return chain
    }

    /// The start of a trial that counts (C4).
    func trialStart(_ id: String) -> Fact? {
        trialStarts.first { $0.label.map { names[$0] }?.isSame(as: id) ?? false }
    }

    /// Adds what a grant or trial unlocks, and what stands in the way of that.
    ///
    /// `granting`: the catalog that lists its features; nil: it names them itself.
    private func finish(
        _ chain: inout Chain,
        _ interval: Interval,
        features: [String],
        tier: String?,
        _ gate: Gate,
        granting: Int? = nil
    ) {
        if interval.start > gate.instant {
            chain.obstacles.append(
                Chain.Obstacle(
                    effect: .startsLater(at: interval.start),
                    change: nil,
                    time: interval.start
                )
            )
        }
        let unlocked = GateReader.unlocked(features, tier, in: gate.catalog)
        if !unlocked.features.contains(gate.index), !interval.isEmpty {
            chain.obstacles.append(
                Chain.Obstacle(
                    effect: .isLocked(tier: tier),
                    change: .upgrade(tier: gate.level),
                    catalog: gate.publication
                )
            )
        }
        for obstacle in chain.obstacles { chain.addStep(obstacle) }
        guard chain.obstacles.isEmpty else { return }
        let effect =
            features.holds(gate.feature)
            ? Explanation.Effect.unlocks : .unlocksTier(tier ?? Catalog.freeTier)
        let catalog = effect == .unlocks ? granting ?? gate.catalogIndex : gate.catalogIndex
        chain.steps.append(catalogStep(effect, chain.topic, catalog))
    }

    // MARK: What several chains have

    /// What a catalog says.
    func catalogStep(
        _ effect: Explanation.Effect,
        _ topic: Explanation.Topic,
        _ index: Int
    ) -> Explanation.Step {
        let publication = timeline.catalogs.publications[index]
        return Explanation.Step(
            topic: topic,
            effect: effect,
            sequence: publication.sequence,
            time: publication.time
        )
    }

    /// C2: the links that lead from what was asked for, and from who is named, to one customer.
    func linkSteps(ofCustomer name: UInt64) -> [Explanation.Step] {
        (customers.path(from: asked) + customers.path(from: name)).map {
            Explanation.Step(
                topic: .general,
                effect: .linkedCustomer,
                sequence: $0,
                time: fact($0)?.time
            )
        }
    }
}

extension Explanation.Topic {
    /// An order without meaning, so that answers are the same each time.
    fileprivate var order: UInt64 {
        switch self {
        case .general: 0
        case .purchase(let number, _, _): number
        case .grant(let sequence): sequence
        case .trial: .max
        }
    }
}
