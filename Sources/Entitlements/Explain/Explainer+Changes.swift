import Encodings

extension Explainer {
    /// What would change a decision, the nearest first.
    func changes(
        _ told: Told,
        _ decision: CustomerState.FeatureState,
        _ gate: Gate
    ) -> [Explanation.Change] {
        var changes = decision.isAllowed ? endings(told, decision, gate) : openings(told, gate)
        // A window of no uses begins again with none.
        if decision.refusal == .usedUp, let limit = decision.limit, limit.perPeriod?.count != 0,
            let resetsAt = limit.resetsAt
        {
            changes.insert(
                Explanation.Change(
                    topic: .general,
                    kind: .limitReset,
                    time: resetsAt,
                    // Uses count anew for nobody whose access is over by then.
                    isEnough: decision.until.map { resetsAt < $0 } ?? true
                ),
                at: 0
            )
        }
        // Whether the nearest event decides is tried, not reasoned: the fold is asked without it.
        if let index = changes.firstIndex(where: { $0.sequence != nil }),
            let sequence = changes[index].sequence
        {
            let state = state(at: gate.instant, without: sequence)
            let other = state.features.first { $0.id.isSame(as: gate.feature) }
            changes[index].isDecisive = other != decision
            changes[index].isDecisiveUntil = state.validUntil
        }
        return changes
    }

    /// What the fold says when an event had not been recorded.
    private func state(at instant: Instant, without sequence: UInt64) -> CustomerState {
        CustomerTimeline(
            of: asked,
            facts: facts.filter { $0.sequence != sequence },
            names: names,
            catalogs: CatalogHistory(catalogs.publications.filter { $0.sequence != sequence }),
            position: position
        )
        .state(at: instant)
    }

    // MARK: From no to yes

    private func openings(_ told: Told, _ gate: Gate) -> [Explanation.Change] {
        var changes: [Explanation.Change] = []
        if let instant = opening(gate) {
            changes.append(
                Explanation.Change(topic: .general, kind: .opens, time: instant, isEnough: true)
            )
        }
        for (place, chain) in told.chains.enumerated() {
            // Of those further away only what lacks a single thing is worth telling.
            guard place == 0 || chain.obstacles.count == 1 else { continue }
            changes += chain.obstacles.compactMap { obstacle in
                obstacle.change.map {
                    Explanation.Change(
                        topic: chain.topic,
                        kind: $0,
                        sequence: obstacle.sequence,
                        isEnough: chain.obstacles.count == 1
                    )
                }
            }
        }
        let products = gate.catalog.products.filter {
            $0.kind != .consumable && gate.catalog.unlocked(by: $0.unlocks).contains(gate.index)
        }
        if !products.isEmpty {
            let ids = products.map(\.id).sortedByBytes().prefix(Self.productLimit)
            changes.append(
                Explanation.Change(
                    topic: .general,
                    kind: .purchase(products: Array(ids)),
                    isEnough: true
                )
            )
        }
        changes += trialOpenings(gate)
        let isGrantNamed = changes.contains { $0.kind == .grant }
        if !isGrantNamed {
            changes.append(Explanation.Change(topic: .general, kind: .grant, isEnough: true))
        }
        return changes
    }

    /// Trials of the catalog that the customer has not begun and that would unlock the feature.
    private func trialOpenings(_ gate: Gate) -> [Explanation.Change] {
        gate.catalog.trials.filter { trial in
            trial.days > 0 && !timeline.trials.contains { $0.id.isSame(as: trial.id) }
                && GateReader.unlocked(trial.features, trial.tier, in: gate.catalog)
                    .features.contains(gate.index)
        }
        .map { trial in
            Explanation.Change(
                topic: .trial(trial.id),
                kind: .trial(id: trial.id),
                isEnough: true
            )
        }
    }

    /// The first instant after T at which the feature is allowed, as things are known.
    private func opening(_ gate: Gate) -> Instant? {
        var reader = gate.reader
        let instants = timeline.changeInstants.filter { $0 > gate.instant }.sorted()
        return instants.first { instant in
            let then = reader.gates(at: instant)
            guard let number = then.catalog else { return false }
            let catalog = timeline.catalogs.publications[number].catalog
            return catalog.featureIndex(gate.feature)
                .map { then.isAllowed(feature: $0, in: catalog) } ?? false
        }
    }

    // MARK: From yes to no

    private func endings(
        _ told: Told,
        _ decision: CustomerState.FeatureState,
        _ gate: Gate
    ) -> [Explanation.Change] {
        var changes: [Explanation.Change] = []
        if let until = decision.until { changes.append(ending(at: until, gate)) }
        guard decision.reason != .free else {
            let isNamed = changes.contains { $0.kind == .ends(.catalog) }
            return isNamed
                ? changes
                : changes + [
                    Explanation.Change(topic: .general, kind: .catalog, isEnough: true)
                ]
        }
        // What several sources give is not lost with one of them.
        guard decision.sources.count == 1, let chain = told.chains.first else {
            let kind = Explanation.Change.Kind.allSources(count: decision.sources.count)
            return changes + [
                Explanation.Change(topic: .general, kind: kind, isEnough: true)
            ]
        }
        switch chain.source {
        case .purchase:
            let isNamed = changes.contains { $0.kind == .ends(.revocation) }
            if isNamed { break }
            changes.append(
                Explanation.Change(topic: chain.topic, kind: .refund, isEnough: true)
            )
        case .grant:
            let isNamed = changes.contains { $0.kind == .ends(.grant(isWithdrawn: true)) }
            if isNamed { break }
            changes.append(
                Explanation.Change(topic: chain.topic, kind: .withdrawal, isEnough: true)
            )
        case .trial: break
        }
        return changes
    }

    /// Why it ends at the instant that the fold names (K6).
    private func ending(at until: Instant, _ gate: Gate) -> Explanation.Change {
        if let last = Gate(gate.feature, at: until.advanced(byMilliseconds: -1), timeline) {
            for giver in givers(last) {
                if let change = ending(of: giver, at: until, gate.instant) { return change }
            }
        }
        let catalog = timeline.catalogs.publications.last { $0.time == until }
        return Explanation.Change(
            topic: .general,
            kind: .ends(.catalog),
            sequence: catalog?.sequence,
            time: until,
            isEnough: true
        )
    }

    /// Why what holds the gate open ends at an instant; nil: it does not.
    private func ending(
        of giver: Giver,
        at until: Instant,
        _ instant: Instant
    ) -> Explanation.Change? {
        func change(_ end: Explanation.Change.End, _ sequence: UInt64?) -> Explanation.Change {
            Explanation.Change(
                topic: giver.topic,
                kind: .ends(end),
                sequence: sequence,
                time: until,
                isEnough: true
            )
        }
        switch giver.source {
        case .purchase(let number):
            guard let index = giver.period,
                let purchase = timeline.purchases.first(where: { $0.timeline.number == number })
            else { return nil }
            return ending(of: purchase, index, at: until, instant)
        case .grant(let sequence):
            guard giver.interval.end == until else { return nil }
            let withdrawal = withdrawal(of: fact(sequence), at: until)
            return change(.grant(isWithdrawn: withdrawal != nil), withdrawal)
        case .trial: return giver.interval.end == until ? change(.trial, nil) : nil
        }
    }

    /// Why a period's access ends at an instant; nil: it does not.
    private func ending(
        of purchase: CustomerTimeline.OwnedPurchase,
        _ index: Int,
        at until: Instant,
        _ instant: Instant
    ) -> Explanation.Change? {
        let period = purchase.timeline.periods[index]
        let topic = Explanation.Topic.purchase(
            purchase.timeline.number,
            productID: period.productID,
            kind: period.kind
        )
        func change(_ end: Explanation.Change.End, _ sequence: UInt64?) -> Explanation.Change {
            Explanation.Change(
                topic: topic,
                kind: .ends(end),
                sequence: sequence,
                time: until,
                isEnough: true
            )
        }
        if !purchase.ownership.contains(where: { $0.contains(until) }) {
            return change(.ownership, purchase.owners.decisive(at: until).last)
        }
        guard !period.access.contains(where: { $0.contains(until) }) else { return nil }
        if let revocation = period.revocation(at: until) {
            return change(.revocation, revocation.statement.sequence)
        }
        if !period.isVerified(at: until) {
            return change(.verification, period.verdict(at: until)?.sequence)
        }
        if let pause = purchase.timeline.pauses.first(where: { $0.contains(until) }) {
            let statement = purchase.timeline.facts[.purchasePaused]
                .first { $0.time == pause.start }
            return change(.pause, statement?.sequence)
        }
        if let grace = period.grace?.end, grace == until {
            return change(.grace, graceStop(purchase.timeline, index, at: until))
        }
        if period.leeway?.end == until { return change(.leeway, nil) }
        let cause = endCause(purchase.timeline, index, until)
        if case .followed = cause.effect { return change(.followed, cause.sequence) }
        let next = purchase.timeline.periods[(index + 1)...].first {
            $0.kind == .autoRenewable && $0.start == until
        }
        if let next, period.kind == .autoRenewable {
            return change(.followed, next.statement.sequence)
        }
        let willRenew = purchase.timeline.willRenew(at: instant)
        let nextProductID = purchase.timeline.nextProductID(at: instant)
        if willRenew == true, let nextProductID, !nextProductID.isSame(as: period.productID) {
            return change(.switching, cause.sequence)
        }
        return change(
            .expiry(willRenew: period.kind == .autoRenewable ? willRenew : nil),
            cause.sequence
        )
    }
}
