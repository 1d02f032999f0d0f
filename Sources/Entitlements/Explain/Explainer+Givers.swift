import Encodings

extension Explainer {
    /// What holds a gate open at an instant.
    struct Giver {
        var source: AccessSource
        var topic: Explanation.Topic
        /// The period that gives it, of `PurchaseTimeline.periods`.
        var period: Int?
        /// First instant of the period, grant or trial.
        var start: Instant
        /// The stretch without a gap in which it gives access.
        var interval: Interval
        /// The event that it comes from.
        var sequence: UInt64?
    }

    /// All that holds a gate open at its instant: purchases, then grants, then trials.
    func givers(_ gate: Gate) -> [Giver] {
        func unlocks(_ features: [String], _ tier: String?) -> Bool {
            GateReader.unlocked(features, tier, in: gate.catalog).features.contains(gate.index)
        }
        let grants = timeline.grants.filter {
            $0.interval.contains(gate.instant) && unlocks($0.features, $0.tier)
        }
        let trials = timeline.trials.filter {
            $0.interval.contains(gate.instant) && unlocks($0.features, $0.tier)
        }
        return timeline.purchases.flatMap { givers(of: $0, gate) }
            + grants.map { grant in
                Giver(
                    source: .grant(grant.sequence),
                    topic: .grant(grant.sequence),
                    start: grant.interval.start,
                    interval: grant.interval,
                    sequence: grant.sequence
                )
            }
            + trials.map { trial in
                Giver(
                    source: .trial(trial.id),
                    topic: .trial(trial.id),
                    start: trial.interval.start,
                    interval: trial.interval,
                    sequence: trialStart(trial.id)?.sequence
                )
            }
    }

    /// The periods of a purchase that do, the last one first.
    private func givers(
        of purchase: CustomerTimeline.OwnedPurchase,
        _ gate: Gate
    ) -> [Giver] {
        guard purchase.ownership.contains(where: { $0.contains(gate.instant) }) else { return [] }
        let timeline = purchase.timeline
        return timeline.periods.indices.reversed().compactMap { index in
            let period = timeline.periods[index]
            guard let access = period.access.first(where: { $0.contains(gate.instant) }),
                unlocking(timeline, index, gate) != nil
            else { return nil }
            return Giver(
                source: .purchase(timeline.number),
                topic: .purchase(
                    timeline.number,
                    productID: period.productID,
                    kind: period.kind
                ),
                period: index,
                start: period.start,
                interval: access,
                sequence: period.statement.sequence
            )
        }
    }

    /// What holds a gate open up to the end of a yes, where what is told ends earlier.
    ///
    /// `lasting`: all that does so at the last instant.
    func laterSteps(
        _ told: Told,
        _ lasting: [Giver],
        at last: Instant,
        _ gate: Gate
    ) -> [Explanation.Step] {
        let own = lasting.first { giver in
            told.chains.contains { $0.source == giver.source && $0.period == giver.period }
        }
        if let own { return afterEnd(own, at: last, gate) }
        guard let giver = lasting.first else { return [] }
        return [
            Explanation.Step(
                topic: giver.topic,
                effect: .continued(start: giver.start, end: giver.interval.end),
                sequence: giver.sequence,
                time: giver.start
            )
        ]
    }

    /// P4, P12: what holds a period that is told open behind its end, which is yet to come at T.
    private func afterEnd(
        _ giver: Giver,
        at last: Instant,
        _ gate: Gate
    ) -> [Explanation.Step] {
        guard case .purchase(let number) = giver.source, let index = giver.period,
            let purchase = timeline.purchases.first(where: { $0.timeline.number == number })
        else { return [] }
        let period = purchase.timeline.periods[index]
        if let grace = period.grace, grace.contains(last), gate.instant < grace.start {
            return [graceStep(purchase.timeline, index, giver.topic, at: gate.instant)]
        }
        if let leeway = period.leeway, leeway.contains(last), gate.instant < leeway.start {
            return [
                Explanation.Step(
                    topic: giver.topic,
                    effect: .leeway(until: leeway.end),
                    sequence: nil,
                    time: leeway.start
                )
            ]
        }
        return []
    }

    /// P4: the grace behind a period, until it ends as things are known; once it has ended, as the
    /// store gave it.
    func graceStep(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        _ topic: Explanation.Topic,
        at instant: Instant
    ) -> Explanation.Step {
        let statement = purchase.only(
            purchase.facts[.purchaseGraceStarted],
            speakingOf: index
        ).newest()
        let end = purchase.periods[index].grace?.end
        let isOver = end.map { $0 <= instant } ?? false
        return Explanation.Step(
            topic: topic,
            effect: .grace(until: isOver ? statement?.end : end),
            sequence: statement?.sequence,
            time: statement?.time
        )
    }
}
