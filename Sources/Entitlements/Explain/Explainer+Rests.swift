/// What the named statements of periods rest on, so that the events which are named suffice.
extension Explainer {
    /// Adds the statements without which those of periods in the chain would say something else: the
    /// start (P1), the order of periods of one start (P3), whose claim an account repeats, which
    /// account lay between, and whose erasure leaves an account without a claim (C1).
    func addRests(of purchase: CustomerTimeline.OwnedPurchase, to chain: inout Chain) {
        var named = Set(chain.steps.compactMap(\.sequence))
        var waiting = named.sorted()
        while let sequence = waiting.popLast() {
            guard let fact = fact(sequence),
                let period = Self.period(of: fact, in: purchase.timeline)
            else { continue }
            for rest in rests(of: fact, period, purchase) where named.insert(rest).inserted {
                addStatement(rest, of: purchase.timeline, to: &chain)
                waiting.append(rest)
            }
        }
    }

    private static func period(
        of fact: Fact,
        in purchase: PurchaseTimeline
    ) -> PurchaseTimeline.Period? {
        guard fact.kind.givesPeriod else { return nil }
        return purchase.periods.first { $0.transaction == fact.transaction }
    }

    private func rests(
        of fact: Fact,
        _ period: PurchaseTimeline.Period,
        _ purchase: CustomerTimeline.OwnedPurchase
    ) -> [UInt64] {
        let (start, owners) = (period.start, purchase.owners)
        let told = purchase.timeline.facts[.purchaseCompleted, .purchaseRenewed]
            .filter { $0.transaction == period.transaction }
        var rests = [period.statement.sequence]
        if fact.account != nil {
            let accounts = told.filter { $0.account != nil }
            if let newest = accounts.max(by: { $1.isNewer(than: $0) }) {
                rests.append(newest.sequence)
            }
            // An account that counts as an erased one's rests on that one, and on the erasure.
            rests += owners.passedOver[fact.sequence] ?? []
            if let claim = owners.accountClaim(upTo: start) {
                rests.append(claim.statement)
                if let before = claim.claimBefore { rests.append(before) }
            }
        }
        let isTied = purchase.timeline.periods.count { $0.start == start } > 1
        if isTied || fact.account != nil && owners.hasOther(at: start) {
            if let earliest = told.min(by: { $0.observedAt < $1.observedAt }) {
                rests.append(earliest.sequence)
            }
            if let first = told.map(\.sequence).min() { rests.append(first) }
        }
        return rests
    }

    private func addStatement(
        _ sequence: UInt64,
        of purchase: PurchaseTimeline,
        to chain: inout Chain
    ) {
        guard let fact = fact(sequence) else { return }
        if fact.kind == .customerErased {
            chain.steps.append(
                Explanation.Step(
                    topic: chain.topic,
                    effect: .accountErased,
                    sequence: sequence,
                    time: fact.time
                )
            )
        }
        guard let period = Self.period(of: fact, in: purchase) else { return }
        chain.steps.append(
            Explanation.Step(
                topic: .purchase(
                    purchase.number,
                    productID: period.productID,
                    kind: period.kind
                ),
                effect: .period(
                    start: period.start,
                    end: self.fact(period.statement.sequence)?.end
                ),
                sequence: sequence,
                time: period.start
            )
        )
    }
}
