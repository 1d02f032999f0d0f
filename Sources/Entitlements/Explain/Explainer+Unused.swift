import Encodings

extension Explainer {
    /// Statements that are known and decide nothing here: older ones, links and trials that do not
    /// count.
    func passedOver(_ told: Told) -> [Explanation.Unused] {
        var unused: [Explanation.Unused] = []
        for chain in told.chains {
            guard case .purchase(let number) = chain.source, let index = chain.period,
                let purchase = timeline.purchases.first(where: { $0.timeline.number == number })
            else { continue }
            unused += older(purchase.timeline, index, chain.topic)
        }
        let firstTrials = Set(timeline.trials.compactMap { trialStart($0.id)?.sequence })
        let newestGrants = Set(timeline.grants.map(\.sequence))
        for fact in facts {
            switch fact.kind {
            case .customerLinked where !customers.isInForce(fact):
                unused.append(Self.unused(.general, .passedOver(.c2), fact))
            case .purchaseLinked where !purchaseNames.isInForce(fact):
                unused.append(Self.unused(.general, .passedOver(.p13), fact))
            case .trialStarted where isOwn(fact) && !firstTrials.contains(fact.sequence):
                unused.append(
                    Self.unused(.trial(fact.label.map { names[$0] } ?? ""), .repeatedTrial, fact)
                )
            case .grantGiven where isOwn(fact) && !newestGrants.contains(fact.sequence):
                unused.append(Self.unused(.grant(fact.sequence), .superseded(.c3), fact))
            default: break
            }
        }
        return unused
    }

    /// P1, P2: statements on a period that newer ones replaced.
    private func older(
        _ purchase: PurchaseTimeline,
        _ index: Int,
        _ topic: Explanation.Topic
    ) -> [Explanation.Unused] {
        let period = purchase.periods[index]
        let stated = purchase.facts[.purchaseCompleted, .purchaseRenewed].filter {
            $0.transaction == period.transaction && $0.sequence != period.statement.sequence
        }
        let extended = purchase.facts[.purchaseExtended].filter {
            $0.transaction == period.transaction && $0.sequence != period.base.sequence
        }
        let expired = purchase.only(purchase.facts[.purchaseExpired], speakingOf: index).filter {
            !$0.statement.isNewer(than: period.base)
        }
        let taken = purchase.facts[.revocationRefunded, .revocationRevoked].filter { fact in
            !period.revocations.contains { $0.statement.sequence == fact.sequence }
        }
        let elsewhere = taken.map {
            Self.unused(topic, .otherPeriod(isRefund: $0.kind == .revocationRefunded), $0)
        }
        return elsewhere + stated.map { Self.unused(topic, .superseded(.p1), $0) }
            + (extended + expired).map { Self.unused(topic, .superseded(.p2), $0) }
    }

    private static func unused(
        _ topic: Explanation.Topic,
        _ reason: Explanation.Unused.Reason,
        _ fact: Fact
    ) -> Explanation.Unused {
        Explanation.Unused(topic: topic, reason: reason, sequence: fact.sequence)
    }

    private func isOwn(_ fact: Fact) -> Bool {
        customers.canonical(fact.subject) == timeline.customer
    }

    /// Signals that are noted on the customer's purchases, as a view shows them: what they are called
    /// stands in the log alone.
    package func notedSignals(to view: CustomerView) -> [UInt64] {
        timeline.purchases.flatMap { purchase in
            purchase.timeline.facts[.signalNoted].filter {
                view.shows($0.time, about: purchase.timeline.number)
            }
            .map(\.sequence)
        }
        .sorted()
    }

    /// Claims of the customer's purchases that were refused because somebody owned them (C1).
    ///
    /// `sequences`: of noted signals that are refused claims.
    package func refusedClaims(at sequences: Set<UInt64>) -> [Explanation.Unused] {
        timeline.purchases.flatMap { purchase in
            purchase.timeline.facts[.signalNoted].filter { sequences.contains($0.sequence) }
                .map { fact in
                    let period = purchase.timeline.period(at: fact.time)
                    let topic = Explanation.Topic.purchase(
                        purchase.timeline.number,
                        productID: period?.productID,
                        kind: period?.kind
                    )
                    return Self.unused(topic, .claimRefused, fact)
                }
        }
    }

    /// Z12: what is known of the stores of the customer's purchases, by name, as a view shows it.
    package func completeness(to view: CustomerView) -> [Explanation.Completeness] {
        var stores: [String: Explanation.Completeness] = [:]
        for purchase in timeline.purchases {
            guard let store = purchase.timeline.store else { continue }
            var found = stores[store] ?? Explanation.Completeness(store: store)
            let statements = purchase.timeline.facts
            func last(_ facts: ArraySlice<Fact>) -> Instant? {
                facts.lazy.map(\.time)
                    .filter { view.shows($0, about: purchase.timeline.number) }.max()
            }
            let synced = last(statements[.syncCompleted, .syncReconciled])
            let verified = last(statements[.verificationPassed, .verificationFailed])
            found.lastSyncAt = [found.lastSyncAt, synced].compactMap(\.self).max()
            found.lastVerifiedAt = [found.lastVerifiedAt, verified].compactMap(\.self).max()
            stores[store] = found
        }
        return stores.values.sorted { $0.store.precedes($1.store) }
    }
}
