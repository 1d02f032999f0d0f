extension Explainer {
    /// A chain with all that it rests on.
    func completed(_ chain: Chain, _ gate: Gate) -> Chain {
        guard case .purchase(let number) = chain.source,
            let purchase = timeline.purchases.first(where: { $0.timeline.number == number })
        else { return chain }
        var chain = chain
        if let index = chain.period {
            addPeriod(purchase.timeline, index, to: &chain, at: gate.instant)
        }
        addOwnership(of: purchase, to: &chain, at: gate.instant)
        for obstacle in chain.obstacles { chain.addStep(obstacle) }
        addStatus(purchase.timeline, to: &chain, at: gate.instant)
        addRests(of: purchase, to: &chain)
        addNames(number, to: &chain)
        // By time; what has none comes last.
        chain.steps = chain.steps.enumerated().sorted { left, right in
            let (one, other) = (left.element.sortingTime, right.element.sortingTime)
            return (one, left.offset) < (other, right.offset)
        }
        .map(\.element)
        if let index = chain.period, let effect = unlocking(purchase.timeline, index, gate) {
            let period = purchase.timeline.periods[index]
            let catalogIndex =
                effect == .kept ? timeline.catalogs.index(at: period.start) : gate.catalogIndex
            chain.steps.append(catalogStep(effect, chain.topic, catalogIndex ?? gate.catalogIndex))
        }
        if let index = chain.period, let step = formerPlanStep(purchase.timeline, index, gate) {
            chain.steps.append(step)
        }
        return chain
    }

    /// C1: who owned it, up to who owns it at T.
    private func addOwnership(
        of purchase: CustomerTimeline.OwnedPurchase,
        to chain: inout Chain,
        at instant: Instant
    ) {
        let decisive = purchase.owners.decisive(at: instant)
        let owned = purchase.ownership.first { $0.contains(instant) }
        let next = decisive.dropFirst().map { Optional($0) } + [nil]
        for (sequence, next) in zip(decisive, next) {
            guard let fact = fact(sequence) else { continue }
            let isLast = next == nil
            if isLast && owned == nil { continue }  // The obstacle says so.
            // Whom a release left it to is nobody.
            let until = fact.kind == .customerReleased ? nil : next.flatMap(self.fact)?.time
            let since = owned?.start == Instant(milliseconds: .min) ? nil : owned?.start
            chain.steps.append(
                Explanation.Step(
                    topic: chain.topic,
                    effect: isLast ? .owned(since: since) : .handedOn(until: until),
                    sequence: sequence,
                    time: fact.time
                )
            )
        }
    }

    /// P1 to P7 and P12: what the period is, and what happened to it up to T.
    private func addPeriod(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        to chain: inout Chain,
        at instant: Instant
    ) {
        let period = purchase.periods[index]
        let topic = chain.topic
        func add(_ effect: Explanation.Effect, _ sequence: UInt64?, _ time: Instant?) {
            chain.steps.append(
                Explanation.Step(topic: topic, effect: effect, sequence: sequence, time: time)
            )
        }
        // What no store states the catalog may say (P2).
        let lasting =
            period.lacksStatedEnd
            ? timeline.catalogs.end(of: period.productID, in: purchase.store, from: period.start)
            : nil
        add(
            .period(start: period.start, end: fact(period.statement.sequence)?.end ?? lasting),
            period.statement.sequence,
            period.start
        )
        if period.base != period.statement, let extended = fact(period.base.sequence) {
            add(.extended(until: extended.end), extended.sequence, extended.time)
        }
        if period.isVerified(at: instant), let verdict = period.verdict(at: instant) {
            add(.verified, verdict.sequence, verdict.time)
        }
        addReversals(purchase, period, to: &chain, at: instant)
        guard let end = period.end, end <= instant else { return }
        if period.grace != nil {
            let cause = endCause(purchase, index, end)
            add(cause.effect, cause.sequence, end)
            chain.steps.append(graceStep(purchase, index, topic, at: instant))
        }
        if let leeway = period.leeway, leeway.contains(instant) {
            add(.ended(at: end), nil, end)
            add(.leeway(until: leeway.end), nil, leeway.start)
        }
    }

    /// P9: what a store does meanwhile about a purchase that gives no access.
    private func addStatus(
        _ purchase: PurchaseTimeline,
        to chain: inout Chain,
        at instant: Instant
    ) {
        func add(_ effect: Explanation.Effect, _ fact: Fact?) {
            chain.steps.append(
                Explanation.Step(
                    topic: chain.topic,
                    effect: effect,
                    sequence: fact?.sequence,
                    time: fact?.time
                )
            )
        }
        guard let index = chain.period else { return }
        if purchase.status(ofPeriod: index, at: instant) == .billingRetry {
            let retries = purchase.only(purchase.facts[.purchaseRetryStarted], speakingOf: index)
            add(.retrying, retries.last { $0.time <= instant })
        } else if purchase.status(at: instant) == .pending {
            let last = purchase.facts[.purchasePending].filter { $0.time <= instant }
            add(.pending, last.max(by: Fact.inTime))
        }
    }

    /// P6: what was taken back and given again by T.
    private func addReversals(
        _ purchase: PurchaseTimeline,
        _ period: PurchaseTimeline.Period,
        to chain: inout Chain,
        at instant: Instant
    ) {
        var met: Set<UInt64> = []
        for revocation in period.revocations {
            guard let end = revocation.interval.end, end <= instant,
                let reversal = purchase.facts[.revocationReversed].first(where: {
                    $0.time == end
                        && ($0.transaction == nil || $0.transaction == period.transaction)
                })
            else { continue }
            chain.steps.append(
                Explanation.Step(
                    topic: chain.topic,
                    effect: .revoked(
                        isRefund: revocation.statement.kind == .revocationRefunded,
                        until: end
                    ),
                    sequence: revocation.statement.sequence,
                    time: revocation.interval.start
                )
            )
            guard met.insert(reversal.sequence).inserted else { continue }
            chain.steps.append(
                Explanation.Step(
                    topic: chain.topic,
                    effect: .reversed,
                    sequence: reversal.sequence,
                    time: end
                )
            )
        }
    }

    /// C2, P13: the names under which the events of the chain speak.
    private func addNames(_ purchase: UInt64, to chain: inout Chain) {
        var subjects: Set<UInt64> = []
        var claimed: Set<UInt64> = []
        var customerNames: Set<UInt64> = []
        for sequence in chain.steps.compactMap(\.sequence) {
            guard let fact = fact(sequence) else { continue }
            switch fact.kind {
            case .customerClaimed, .customerReleased:
                customerNames.insert(fact.subject)
                if let other = fact.other { claimed.insert(other) }
            case .customerTransferred:
                customerNames.insert(fact.subject)
                for origin in origins(of: sequence) { customerNames.insert(origin) }
            case .catalogPublished: break
            default:
                if fact.store != nil { subjects.insert(fact.subject) }
                if let account = fact.account { customerNames.insert(account) }
            }
        }
        let purchaseLinks = subjects.union(claimed).sorted()
            .flatMap { purchaseNames.path(from: $0) }
        let customerLinks =
            customers.path(from: asked)
            + customerNames.sorted().flatMap { customers.path(from: $0) }
        var met: Set<UInt64> = []
        for sequence in customerLinks + purchaseLinks where met.insert(sequence).inserted {
            guard let link = fact(sequence) else { continue }
            let isCustomer = link.kind == .customerLinked
            chain.steps.append(
                Explanation.Step(
                    topic: isCustomer ? .general : chain.topic,
                    effect: isCustomer ? .linkedCustomer : .linkedPurchase,
                    sequence: sequence,
                    time: link.time
                )
            )
        }
    }

    /// Whom a transfer takes from: one fact each.
    private func origins(of sequence: UInt64) -> [UInt64] {
        facts.filter { $0.sequence == sequence }.compactMap(\.other)
    }
}

extension Explanation.Step {
    fileprivate var sortingTime: Instant { time ?? Instant(milliseconds: .max) }
}
