import Encodings

extension Explainer {
    /// A plan that a subscription was before, in periods that follow one another.
    private struct FormerPlan {
        /// The last of its periods.
        var last: Int
        /// When the first of them began.
        var start: Instant
        var end: Instant
    }

    /// Whether a period is one of another plan than that of a later period, which took its place.
    ///
    /// `index`, `current`: of `periods`.
    func isFormerPlan(_ purchase: PurchaseTimeline, _ index: Int, before current: Int) -> Bool {
        let (former, period) = (purchase.periods[index], purchase.periods[current])
        return index < current && former.kind == .autoRenewable && period.kind == .autoRenewable
            && !former.productID.isSame(as: period.productID)
    }

    /// The step that tells what a former plan said of the feature, where it was the opposite: of the
    /// one before, when the plan at T includes it; else of the last that did.
    ///
    /// `index`: the period that counts at T.
    func formerPlanStep(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        _ gate: Gate
    ) -> Explanation.Step? {
        let isIncluded = unlocking(purchase, index, gate) != nil
        let former =
            isIncluded
            ? planBefore(purchase, index, gate) : lastPlanIncluding(purchase, index, gate)
        guard let former else { return nil }
        return Explanation.Step(
            topic: .purchase(
                purchase.number,
                productID: purchase.periods[former.last].productID,
                kind: .autoRenewable
            ),
            effect: .formerPlan(
                isIncluded: !isIncluded,
                start: former.start,
                end: former.end
            ),
            sequence: purchase.periods[former.last].statement.sequence,
            time: former.start
        )
    }

    /// The plan that a period took the place of, where it did not include the feature.
    private func planBefore(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        _ gate: Gate
    ) -> FormerPlan? {
        let before = purchase.periods[..<index].indices.last {
            purchase.periods[$0].kind == .autoRenewable
        }
        guard let before, isFormerPlan(purchase, before, before: index),
            isIncluded(purchase, before, gate) == false
        else { return nil }
        return plan(purchase, endingWith: before)
    }

    /// The last plan before a period that included the feature.
    private func lastPlanIncluding(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        _ gate: Gate
    ) -> FormerPlan? {
        var place = index
        while let before = purchase.periods[..<place].indices.last(where: {
            isFormerPlan(purchase, $0, before: index)
        }) {
            guard let plan = plan(purchase, endingWith: before) else { return nil }
            if isIncluded(purchase, before, gate) == true { return plan }
            place =
                purchase.periods[..<before].indices.last {
                    purchase.periods[$0].start < plan.start
                }.map { $0 + 1 } ?? 0
        }
        return nil
    }

    /// Whether a period's product included the feature by the catalog in force when it ended; nil:
    /// there was no such period, or no such feature.
    private func isIncluded(_ purchase: PurchaseTimeline, _ index: Int, _ gate: Gate) -> Bool? {
        let period = purchase.periods[index]
        guard let end = period.end, period.start < end,
            let then = Gate(gate.feature, at: end.advanced(byMilliseconds: -1), timeline)
        else { return nil }
        return unlocking(purchase, index, then) != nil
    }

    /// A plan, from the first of the periods that follow one another under one catalog.
    private func plan(_ purchase: PurchaseTimeline, endingWith last: Int) -> FormerPlan? {
        guard let end = purchase.periods[last].end else { return nil }
        let catalog = timeline.catalogs.index(at: end.advanced(byMilliseconds: -1))
        var first = last
        while let before = purchase.periods[..<first].indices.last(where: {
            purchase.periods[$0].kind == .autoRenewable
        }), purchase.periods[before].end == purchase.periods[first].start,
            purchase.periods[before].productID.isSame(as: purchase.periods[last].productID),
            timeline.catalogs.index(at: purchase.periods[before].start) == catalog
        {
            first = before
        }
        return FormerPlan(last: last, start: purchase.periods[first].start, end: end)
    }
}
