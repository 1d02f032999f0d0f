import Encodings
import Entitlements

/// A step of C1's walk.
private struct SlowOwnerStep {
    var time: Instant
    var sequence: UInt64
    var kind: Kind

    enum Kind {
        case claimed(by: String)
        /// An account's claim.
        case named(String)
        case released(by: String)
        case transferred(from: [String], to: String)
    }

    /// Whom a claim is for; nil: it is none.
    var claimant: String? {
        switch kind {
        case .claimed(let customer), .named(let customer): customer
        case .released, .transferred: nil
        }
    }
}

extension SlowWorld {
    func ownedPurchases(at instant: Instant) -> [SlowPurchase] {
        purchases.filter { owner(of: $0, at: instant) == customer }
    }

    /// C1: who owns the purchase at T.
    func owner(of purchase: SlowPurchase, at instant: Instant) -> String? {
        let steps = steps(of: purchase)
        // The customer of the first claim is the owner since ever.
        guard let first = steps.first(where: { $0.claimant != nil }) else { return nil }
        var owner = first.claimant
        for step in steps where step.time <= instant {
            switch step.kind {
            case .claimed(let customer): owner = customer
            case .named(let customer):
                if owner == nil || isTransferred(at: step.time) { owner = customer }
            case .released(let customer): if owner == customer { owner = nil }
            case .transferred(let from, let customer):
                if let current = owner, from.contains(current) { owner = customer }
            }
        }
        return owner
    }

    /// K1: whether a second claim moves a purchase, by the catalog in force.
    private func isTransferred(at instant: Instant) -> Bool {
        catalogs.inForce(at: instant)?.document["policy"]?["claim"]?.string == "transfer"
    }

    private func steps(of purchase: SlowPurchase) -> [SlowOwnerStep] {
        var steps = accountClaims(of: purchase)
        for event in purchase.events + events.of(.customerTransferred) {
            guard let customer = customer(of: event) else { continue }
            let kind: SlowOwnerStep.Kind
            switch event.kind {
            case .customerClaimed: kind = .claimed(by: customer)
            case .customerReleased: kind = .released(by: customer)
            case .customerTransferred:
                let from = (event.data.texts(.from) ?? []).map { customerLinks.end(of: $0) }
                kind = .transferred(from: from, to: customer)
            default: continue
            }
            steps.append(
                SlowOwnerStep(time: event.time, sequence: event.sequence, kind: kind)
            )
        }
        return steps.sorted { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
    }

    /// C1: what the accounts of a purchase's periods claim.
    private func accountClaims(of purchase: SlowPurchase) -> [SlowOwnerStep] {
        let named = purchase.periods.filter { account(of: $0, in: purchase) != nil }
        // For each start the last in P3's order.
        let periods = named.filter { period in
            named.last { $0.start == period.start }?.transaction == period.transaction
        }
        return periods.indices.compactMap { index in
            guard let account = account(of: periods[index], in: purchase) else { return nil }
            if index > 0, let before = self.account(of: periods[index - 1], in: purchase) {
                if account == before { return nil }
                // A change from an erased customer's account that was told after the erasure.
                let told = statements(of: periods[index], in: purchase)
                    .filter { self.account(in: $0) == account }.map(\.sequence).min()
                if let told, isErased(before, before: told) { return nil }
            }
            return SlowOwnerStep(
                time: periods[index].start,
                sequence: periods[index].lowestSequence,
                kind: .named(account)
            )
        }
    }

    private func statements(
        of period: SlowPeriod,
        in purchase: SlowPurchase
    ) -> [RecordedEvent] {
        purchase.events.of(.purchaseCompleted, .purchaseRenewed).filter {
            $0.data.text(.transactionID) == period.transaction
        }
    }

    /// C1: that of the newest of the transaction's statements that has one.
    private func account(of period: SlowPeriod, in purchase: SlowPurchase) -> String? {
        statements(of: period, in: purchase).filter { account(in: $0) != nil }.newest
            .flatMap { account(in: $0) }
    }

    /// C2: whom a statement names, at the end of the links.
    private func account(in event: RecordedEvent) -> String? {
        event.data.text(.account).map { customerLinks.end(of: $0) }
    }

    private func isErased(_ customer: String, before sequence: UInt64) -> Bool {
        events.of(.customerErased).contains {
            self.customer(of: $0) == customer && $0.sequence < sequence
        }
    }

    private func customer(of event: RecordedEvent) -> String? {
        guard case .customer(let id) = event.event.subject else { return nil }
        return customerLinks.end(of: id.text)
    }
}
