import Encodings

extension Explainer {
    /// The periods of a purchase that speak on a feature, with what stands in their way: the last one
    /// that has started, and the last that would unlock the feature if that one does not.
    func outline(_ purchase: CustomerTimeline.OwnedPurchase, _ gate: Gate) -> [Chain] {
        let timeline = purchase.timeline
        // How near it would be follows from what is another's to know.
        if !gate.view.shows(gate.instant, about: timeline.number),
            let obstacle = ownershipObstacle(purchase, at: gate.instant)
        {
            return [
                Chain(
                    source: .purchase(timeline.number),
                    topic: .purchase(timeline.number, productID: nil, kind: nil),
                    obstacles: [obstacle]
                )
            ]
        }
        guard let current = timeline.periods.lastIndex(where: { $0.start <= gate.instant }) else {
            return [beforePeriods(purchase, gate)]
        }
        var told = [current]
        if unlocking(timeline, current, gate) == nil {
            let other = timeline.periods.indices.last { index in
                timeline.periods[index].start <= gate.instant
                    && unlocking(timeline, index, gate) != nil
            }
            // What another plan was before is told as what it was, beside the plan that counts.
            if let other, !isFormerPlan(timeline, other, before: current) { told.append(other) }
        }
        return told.map { outline(purchase, period: $0, gate) }
    }

    /// A period with what stands in its way (P9's order).
    func outline(
        _ purchase: CustomerTimeline.OwnedPurchase,
        period index: Int,
        _ gate: Gate
    ) -> Chain {
        let period = purchase.timeline.periods[index]
        var chain = Chain(
            source: .purchase(purchase.timeline.number),
            topic: .purchase(
                purchase.timeline.number,
                productID: period.productID,
                kind: period.kind
            ),
            period: index,
            start: period.start
        )
        if let obstacle = ownershipObstacle(purchase, at: gate.instant) {
            chain.obstacles.append(obstacle)
        }
        chain.obstacles += timeObstacles(purchase.timeline, index, at: gate.instant)
        switch unlocking(purchase.timeline, index, gate) {
        case nil: chain.obstacles.append(lockedObstacle(purchase.timeline, period, gate))
        case .kept?:
            // K3 keeps what was bought then; bought anew, it is what the product is now.
            for place in chain.obstacles.indices where chain.obstacles[place].change == .renewal {
                chain.obstacles[place].change = nil
            }
        default: break
        }
        return chain
    }

    /// A purchase none of whose periods has started.
    private func beforePeriods(
        _ purchase: CustomerTimeline.OwnedPurchase,
        _ gate: Gate
    ) -> Chain {
        if !purchase.timeline.periods.isEmpty { return outline(purchase, period: 0, gate) }
        let timeline = purchase.timeline
        var chain = Chain(
            source: .purchase(timeline.number),
            topic: .purchase(timeline.number, productID: nil, kind: nil)
        )
        if let obstacle = ownershipObstacle(purchase, at: gate.instant) {
            chain.obstacles.append(obstacle)
        }
        let last = timeline.facts[.purchasePending, .purchaseAbandoned]
            .filter { $0.time <= gate.instant }.max(by: Fact.inTime)
        chain.obstacles.append(
            Chain.Obstacle(
                effect: last.map { $0.kind == .purchasePending ? .pending : .abandoned }
                    ?? .nothingBought,
                change: last?.kind == .purchasePending ? .approval : nil,
                sequence: last?.sequence,
                time: last?.time
            )
        )
        return chain
    }

    // MARK: Obstacles

    /// The owner at T, where it is not the customer (C1).
    private func ownershipObstacle(
        _ purchase: CustomerTimeline.OwnedPurchase,
        at instant: Instant
    ) -> Chain.Obstacle? {
        guard !purchase.ownership.contains(where: { $0.contains(instant) }) else { return nil }
        let isAnother = purchase.owners.owner(at: instant) != nil
        let sequence = purchase.owners.decisive(at: instant).last
        return Chain.Obstacle(
            effect: .notOwned(byAnother: isAnother),
            change: .claim(fromAnother: isAnother),
            sequence: sequence,
            time: sequence.flatMap(fact)?.time
        )
    }

    /// Whatever keeps a period's access from holding at an instant; none: it holds (P8).
    private func timeObstacles(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        at instant: Instant
    ) -> [Chain.Obstacle] {
        let period = purchase.periods[index]
        var obstacles: [Chain.Obstacle] = []
        if period.kind == .consumable {
            obstacles.append(Chain.Obstacle(effect: .isConsumable, change: nil))
        }
        if period.start > instant {
            obstacles.append(
                Chain.Obstacle(
                    effect: .startsLater(at: period.start),
                    change: nil,
                    time: period.start
                )
            )
        }
        if let revocation = period.revocation(at: instant) {
            obstacles.append(
                Chain.Obstacle(
                    effect: .revoked(
                        isRefund: revocation.statement.kind == .revocationRefunded,
                        until: revocation.interval.end
                    ),
                    change: .reversal,
                    sequence: revocation.statement.sequence,
                    time: revocation.interval.start
                )
            )
        }
        if !period.isVerified(at: instant) {
            let verdict = period.verdict(at: instant)
            obstacles.append(
                Chain.Obstacle(
                    effect: verdict == nil ? .neverVerified : .failedVerification,
                    change: .verification,
                    sequence: verdict?.sequence,
                    time: verdict?.time
                )
            )
        }
        if let pause = pause(of: purchase, at: instant) { obstacles.append(pause) }
        if let end = endObstacle(purchase, index, at: instant) { obstacles.append(end) }
        return obstacles
    }

    /// The pause that covers an instant (P5).
    private func pause(of purchase: PurchaseTimeline, at instant: Instant) -> Chain.Obstacle? {
        guard let pause = purchase.pauses.first(where: { $0.contains(instant) }) else { return nil }
        let statement = purchase.facts[.purchasePaused].first { $0.time == pause.start }
        return Chain.Obstacle(
            effect: .paused(until: pause.end),
            change: .resumption,
            sequence: statement?.sequence,
            time: pause.start
        )
    }

    /// P2, P3: the end, where neither grace nor leeway goes on after it.
    private func endObstacle(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        at instant: Instant
    ) -> Chain.Obstacle? {
        let period = purchase.periods[index]
        guard let end = period.end, end <= instant, period.start <= instant,
            period.grace?.contains(instant) != true, period.leeway?.contains(instant) != true
        else { return nil }
        if let grace = period.grace?.end, grace <= instant {
            return Chain.Obstacle(
                effect: .graceEnded(at: grace),
                change: .renewal,
                sequence: graceStop(purchase, index, at: grace),
                time: grace
            )
        }
        let cause = endCause(purchase, index, end)
        return Chain.Obstacle(
            effect: cause.effect,
            change: .renewal,
            sequence: cause.sequence,
            time: end
        )
    }

    /// The catalog, where it does not know the product, or it does not unlock the feature (K2, K4).
    private func lockedObstacle(
        _ purchase: PurchaseTimeline,
        _ period: PurchaseTimeline.Period,
        _ gate: Gate
    ) -> Chain.Obstacle {
        let product = gate.catalog.product(period.productID, in: purchase.store ?? "")
        guard let product else {
            return Chain.Obstacle(
                effect: .isUnmapped,
                change: .mapping,
                catalog: gate.publication
            )
        }
        let tier = product.unlocks.tier.map { gate.catalog.tiers[$0] }
        return Chain.Obstacle(
            effect: .isLocked(tier: tier),
            change: .upgrade(tier: gate.level),
            catalog: gate.publication
        )
    }

    // MARK: What the fold's values come from

    /// What a period's product does for the feature at T; nil: nothing (K2, K3).
    func unlocking(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        _ gate: Gate
    ) -> Explanation.Effect? {
        let period = purchase.periods[index]
        let right = AccessStretch.ProductRight(
            store: purchase.store ?? "",
            productID: period.productID,
            keptSince: period.kind == .nonConsumable ? period.start : nil
        )
        guard gate.reader.unlocked(by: right, in: gate.catalog).features.contains(gate.index) else {
            return nil
        }
        let product = gate.catalog.product(right.productID, in: right.store)
        guard let unlocks = product?.unlocks,
            gate.catalog.unlocked(by: unlocks).contains(gate.index)
        else { return .kept }
        if unlocks.all { return .unlocksAll }
        guard !unlocks.features.holds(gate.feature), let tier = unlocks.tier else {
            return .unlocks
        }
        return .unlocksTier(gate.catalog.tiers[tier])
    }

    /// P2, P3: what made a period end when it does.
    func endCause(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        _ end: Instant
    ) -> (effect: Explanation.Effect, sequence: UInt64?) {
        let period = purchase.periods[index]
        if period.isCut {
            let expired = purchase.only(purchase.facts[.purchaseExpired], speakingOf: index).first {
                $0.statement.isNewer(than: period.base)
                    && ($0.time == end || $0.time < period.start)
            }
            if let expired { return (.expired(at: end), expired.sequence) }
        }
        if period.kind == .autoRenewable, fact(period.base.sequence)?.end != end {
            let next = purchase.periods[(index + 1)...].first { $0.kind == .autoRenewable }
            if let next, next.start == end {
                return (.followed(at: end), next.statement.sequence)
            }
        }
        return (.ended(at: end), nil)
    }

    /// P4: the statement that ended a grace period early; nil: it ran out.
    func graceStop(_ purchase: PurchaseTimeline, _ index: Int, at end: Instant) -> UInt64? {
        purchase.only(
            purchase.facts[.purchaseRetryStarted, .purchaseExpired],
            speakingOf: index
        )
        .first { $0.time == end }?.sequence
    }
}
