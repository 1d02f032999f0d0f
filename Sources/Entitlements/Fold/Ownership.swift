/// Who owns a purchase over effective time (C1).
package struct Ownership: Sendable {
    /// From an instant on, somebody else owns the purchase.
    struct Change: Sendable {
        var time: Instant
        var owner: UInt64?
        /// Place in the log of what says so.
        var sequence: UInt64
        /// Whether it takes from the owner before it, or counts because there was none, so that it
        /// rests on what made it so.
        var restsOnEarlier: Bool
    }

    /// Something that may give a purchase another owner; customers are those at the end of the links.
    struct Step: Sendable {
        var time: Instant
        /// Its place among those of one time.
        var sequence: UInt64
        /// Place in the log of what says so.
        var statement: UInt64
        /// Place in the log of the account's claim before it, without which an account that was
        /// named earlier would claim nothing anew; nil: it rests on none.
        var claimBefore: UInt64?
        /// Whether it was recorded more than a day after it was observed.
        var isLate = false
        var kind: Kind

        enum Kind: Sendable {
            case claim(by: UInt64)
            /// An account's claim, which takes from an owner where `policy.claim` moves purchases.
            case account(UInt64)
            case release(by: UInt64)
            case transfer(from: UInt64, to: UInt64)
        }

        /// Whom a claim is for; nil: it is none.
        var claimant: UInt64? {
            switch kind {
            case .claim(let customer), .account(let customer): customer
            case .release, .transfer: nil
            }
        }
    }

    /// The owner before any change; nil: nobody.
    let first: UInt64?
    /// Place in the log of the claim that made them owner since ever.
    let firstClaim: UInt64?
    /// Ascending by time.
    let changes: [Change]
    /// Whether an account met another owner, so that `policy.claim` decides.
    let restsOnPolicy: Bool
    /// Places in the log of what stands behind an account that counts as the one beside it, which was
    /// erased, by the place of the statement that names the account.
    let passedOver: [UInt64: [UInt64]]
    /// In their order.
    private let steps: [Step]

    /// Walks claims, releases and transfers, in any order.
    ///
    /// `catalogs`: those that say whether an account's claim moves a purchase.
    init(_ steps: [Step], passedOver: [UInt64: [UInt64]] = [:], _ catalogs: CatalogHistory) {
        self.init(
            ordered: steps.sorted { ($0.time, $0.sequence) < ($1.time, $1.sequence) },
            passedOver,
            catalogs
        )
    }

    private init(
        ordered steps: [Step],
        _ passedOver: [UInt64: [UInt64]],
        _ catalogs: CatalogHistory
    ) {
        self.steps = steps
        self.passedOver = passedOver
        let claim = steps.first { $0.claimant != nil }
        first = claim?.claimant
        firstClaim = claim?.statement
        var owner = first
        var changes: [Change] = []
        var restsOnPolicy = false
        for step in first == nil ? [] : steps {
            var restsOnEarlier = true
            switch step.kind {
            case .claim(let customer):
                owner = customer
                restsOnEarlier = false
            case .account(let customer) where owner == nil: owner = customer
            case .account(let customer) where owner != customer:
                restsOnPolicy = true
                guard catalogs.policy(at: step.time)?.claim == .transfer else { continue }
                owner = customer
                restsOnEarlier = false
            case .release(let customer) where owner == customer: owner = nil
            case .transfer(let from, let customer) where owner == from: owner = customer
            default: continue
            }
            changes.append(
                Change(
                    time: step.time,
                    owner: owner,
                    sequence: step.statement,
                    restsOnEarlier: restsOnEarlier
                )
            )
        }
        self.changes = changes
        self.restsOnPolicy = restsOnPolicy
    }

    /// The first claim in the log that somebody asked for when it was recorded; nil: the first was told
    /// later, or there is none (Stores, rule 7).
    var askedFirst: UInt64? {
        let claims = steps.filter { step in
            if case .claim = step.kind { true } else { false }
        }
        guard let first = claims.min(by: { $0.statement < $1.statement }), !first.isLate else {
            return nil
        }
        return first.statement
    }

    /// The same claims under other catalogs.
    func under(_ catalogs: CatalogHistory) -> Ownership {
        restsOnPolicy ? Ownership(ordered: steps, passedOver, catalogs) : self
    }

    /// Whether a claim is for a customer, be it that it made them no owner.
    package func isClaimed(by customer: UInt64) -> Bool {
        steps.contains { $0.claimant == customer }
    }

    /// Whether a claim or a transfer is for a customer.
    func names(_ customer: UInt64) -> Bool {
        steps.contains { step in
            if case .transfer(_, customer) = step.kind { return true }
            return step.claimant == customer
        }
    }

    /// The owner when all is said (E4's decisions are made against it).
    package var last: UInt64? { changes.isEmpty ? first : changes.last?.owner }

    /// The stretches in which a customer owns the purchase, joined where they touch.
    package func stretches(of customer: UInt64) -> [Interval] {
        var stretches: [Interval] = []
        var start = first == customer ? Instant(milliseconds: .min) : nil
        for change in changes {
            if change.owner == customer {
                if start == nil {
                    let joins = stretches.last?.end == change.time
                    start = joins ? stretches.removeLast().start : change.time
                }
            } else if let since = start {
                if since < change.time {
                    stretches.append(Interval(start: since, end: change.time))
                }
                start = nil
            }
        }
        if let start { stretches.append(Interval(start: start, end: nil)) }
        return stretches
    }

    /// The sequences that decide who owns the purchase at an instant, in their order: what made the
    /// owner one and, where that takes from another, what had made that one owner.
    func decisive(at instant: Instant) -> [UInt64] {
        var sequences: [UInt64] = []
        let passed = changes.prefix { $0.time <= instant }
        for change in passed.reversed() {
            sequences.append(change.sequence)
            if !change.restsOnEarlier { return sequences.reversed() }
        }
        if let firstClaim { sequences.append(firstClaim) }
        return sequences.reversed()
    }

    /// The last claim of an account up to an instant: a later period of the same customer, named
    /// alone, would claim in its place.
    func accountClaim(upTo instant: Instant) -> Step? {
        steps.last { step in
            guard case .account = step.kind else { return false }
            return step.time <= instant
        }
    }

    /// Whether something else than an account's claim is said of an instant, so that places in the
    /// log decide.
    func hasOther(at instant: Instant) -> Bool {
        steps.contains { step in
            if case .account = step.kind { return false }
            return step.time == instant
        }
    }

    /// The owner at an instant; nil: nobody.
    package func owner(at instant: Instant) -> UInt64? {
        changes.last { $0.time <= instant }.map(\.owner) ?? first
    }
}

extension Ownership.Step {
    /// A step that an event of its own says.
    init(_ fact: Fact, _ kind: Kind) {
        self.init(
            time: fact.time,
            sequence: fact.sequence,
            statement: fact.sequence,
            claimBefore: nil,
            isLate: fact.isLate,
            kind: kind
        )
    }
}
