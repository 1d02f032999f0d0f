/// Since when the ledger knows what a step says (T4): stores tell most things again with each message, and a
/// step names the newest that says so.
extension Explainer {
    /// A step with the first event in the log that said what its own says.
    ///
    /// Cost: a pass over the facts.
    func dated(_ step: Explanation.Step, at instant: Instant) -> Explanation.Step {
        guard let sequence = step.sequence, let said = fact(sequence) else { return step }
        let first = firstTold(step, said, at: instant)
        var step = step
        step.firstSequence = first == sequence ? nil : first
        return step
    }

    /// `said`: the event that the step names.
    private func firstTold(
        _ step: Explanation.Step,
        _ said: Fact,
        at instant: Instant
    ) -> UInt64 {
        guard case .purchase(let number, _, _) = step.topic,
            let purchase = timeline.purchases.first(where: { $0.timeline.number == number })
        else { return first(saying: said) }
        let periods = purchase.timeline.periods
        switch step.effect {
        case .verified, .failedVerification:
            let judged = periods.last { $0.verdict(at: instant)?.sequence == said.sequence }
            return judged?.verdictsInARow(at: instant).min() ?? said.sequence
        case .owned, .handedOn, .notOwned:
            let row = purchase.owners.inARow(upTo: said.sequence, at: instant)
            let told = row.sequences.compactMap(fact).map { claim in
                claim.account.flatMap {
                    first(naming: customers.canonical($0), for: number, by: claim.transaction)
                } ?? first(saying: claim)
            }
            let ever = row.sinceEver.flatMap { first(naming: $0, for: number) }
            return (told + [ever].compactMap(\.self)).min() ?? said.sequence
        case .period, .continued, .formerPlan:
            // What is told is what the newest statement gives (P1), also of an older one that is named.
            let period = periods.first { $0.transaction == said.transaction }
            return first(saying: period.flatMap { fact($0.statement.sequence) } ?? said)
        case .followed:
            // Only when the next period begins is told.
            let next = facts.first {
                $0.kind.givesPeriod && $0.transaction == said.transaction && $0.time == said.time
                    && purchaseNames.canonical($0.subject) == number
            }
            return next?.sequence ?? said.sequence
        default: return first(saying: said)
        }
    }

    /// The first event in the log that named a customer for a purchase (C1).
    ///
    /// `transaction`: the one that must name them; nil: whichever.
    private func first(
        naming customer: UInt64,
        for purchase: UInt64,
        by transaction: UInt64? = nil
    ) -> UInt64? {
        facts.first { fact in
            let isClaim = fact.kind == .customerClaimed
            guard transaction == nil || fact.transaction == transaction,
                let claimed = isClaim ? fact.other : fact.subject,
                let claimant = isClaim ? fact.subject : fact.account
            else { return false }
            return purchaseNames.canonical(claimed) == purchase
                && customers.canonical(claimant) == customer
        }?.sequence
    }

    /// The first event in the log that says what another says.
    private func first(saying said: Fact) -> UInt64 {
        let content = content(of: said)
        let first = facts.first { fact in
            fact.time == said.time && fact.kind.givesPeriod == said.kind.givesPeriod
                && self.content(of: fact) == content
        }
        return first?.sequence ?? said.sequence
    }

    /// What an event says, whoever said it, when, and by which name of the customer or purchase.
    private func content(of fact: Fact) -> Fact {
        var content = fact
        content.sequence = 0
        content.observedAt = fact.time
        content.subject = customers.canonical(purchaseNames.canonical(fact.subject))
        content.store = nil
        content.isLate = false
        content.method = nil
        if fact.kind.givesPeriod {
            content.kind = .purchaseCompleted
            content.other = nil
        }
        return content
    }
}

extension PurchaseTimeline.Period {
    /// The sequences of the verdict at an instant and of those right before it that say the same (P7).
    fileprivate func verdictsInARow(at instant: Instant) -> [UInt64] {
        let standing = verdicts.lastIndex { $0.time <= instant } ?? verdicts.indices.first
        guard let standing else { return [] }
        return verdicts[...standing].reversed()
            .prefix { $0.isPassed == verdicts[standing].isPassed }.map(\.sequence)
    }
}

extension Ownership {
    /// The sequences of what made somebody the owner and of what right before it had made them one, and who
    /// has been the owner since ever, where it goes back so far (C1).
    ///
    /// `sequence`: one of those that decide who owns the purchase at an instant.
    fileprivate func inARow(
        upTo sequence: UInt64,
        at instant: Instant
    ) -> (sequences: [UInt64], sinceEver: UInt64?) {
        let passed = changes.prefix { $0.time <= instant }
        guard let last = passed.lastIndex(where: { $0.sequence == sequence }) else {
            return ([sequence], sequence == firstClaim ? first : nil)
        }
        let owner = passed[last].owner
        let row = passed[...last].reversed().prefix { $0.owner == owner }.map(\.sequence)
        guard row.count == last + 1, owner == first else { return (row, nil) }
        return (row + [firstClaim].compactMap(\.self), first)
    }
}
