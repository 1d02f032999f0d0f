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

/// Whom a store names for a period (C1).
private struct SlowAccount {
    /// The customer that it counts as.
    var customer: String
    var period: SlowPeriod
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
        var accounts = accountsByStart(of: purchase)
        // An account right before an erased customer's may be that one's.
        for index in accounts.indices.dropLast().reversed() {
            let next = accounts[index + 1].customer
            if mayBe(accounts[index].customer, next, in: purchase) {
                accounts[index].customer = next
            }
        }
        return accounts.indices.compactMap { index in
            let account = accounts[index]
            if index > 0 {
                let before = accounts[index - 1].customer
                if account.customer == before { return nil }
                // One right behind it, too.
                if mayBe(account.customer, before, in: purchase) { return nil }
            }
            return SlowOwnerStep(
                time: account.period.start,
                sequence: account.period.lowestSequence,
                kind: .named(account.customer)
            )
        }
    }

    /// C1: for each start that of the last period in P3's order that has one.
    private func accountsByStart(of purchase: SlowPurchase) -> [SlowAccount] {
        let accounts = purchase.periods.compactMap { account(of: $0, in: purchase) }
        return Set(accounts.map(\.period.start)).sorted().compactMap { start in
            lasting(accounts.filter { $0.period.start == start }, in: purchase)
        }
    }

    /// C1: that of the newest of the transaction's statements that has one.
    private func account(of period: SlowPeriod, in purchase: SlowPurchase) -> SlowAccount? {
        let statements = purchase.events.of(.purchaseCompleted, .purchaseRenewed)
            .filter { $0.data.text(.transactionID) == period.transaction }
            .sorted { $1.isNewer(than: $0) }
        let accounts = statements.compactMap { statement in
            account(in: statement).map { SlowAccount(customer: $0, period: period) }
        }
        return lasting(accounts, in: purchase)
    }

    /// The last, where none takes the place of an erased customer's that may be that one's.
    private func lasting(_ accounts: [SlowAccount], in purchase: SlowPurchase) -> SlowAccount? {
        var lasting: SlowAccount?
        for account in accounts {
            if let lasting, mayBe(account.customer, lasting.customer, in: purchase) { continue }
            lasting = account
        }
        return lasting
    }

    /// C2: whom a statement names, at the end of the links.
    private func account(in event: RecordedEvent) -> String? {
        event.data.text(.account).map { customerLinks.end(of: $0) }
    }

    /// C1: whether a customer may be another one under a new number: that one was erased, and the
    /// events before it do not name this one.
    private func mayBe(_ customer: String, _ other: String, in purchase: SlowPurchase) -> Bool {
        guard customer != other else { return false }
        return events.of(.customerErased).contains { erasure in
            self.customer(of: erasure) == other
                && !(purchase.events + events.of(.customerTransferred)).contains {
                    $0.sequence < erasure.sequence && names(customer, $0)
                }
        }
    }

    /// Whether an account, a claim, a release or a transfer names a customer.
    private func names(_ customer: String, _ event: RecordedEvent) -> Bool {
        switch event.kind {
        case .purchaseCompleted, .purchaseRenewed: account(in: event) == customer
        case .customerClaimed, .customerReleased: self.customer(of: event) == customer
        case .customerTransferred:
            self.customer(of: event) == customer
                || (event.data.texts(.from) ?? []).contains {
                    customerLinks.end(of: $0) == customer
                }
        default: false
        }
    }

    private func customer(of event: RecordedEvent) -> String? {
        guard case .customer(let id) = event.event.subject else { return nil }
        return customerLinks.end(of: id.text)
    }
}
