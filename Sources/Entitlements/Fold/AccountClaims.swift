/// What the accounts of a purchase's periods claim (C1).
struct AccountClaims {
    /// Those that have an account, each start's last in P3's order.
    private var periods: [Period] = []
    /// The completed and renewed of the purchase.
    private let facts: [Fact]
    private let customers: Links
    private let erasures: [UInt64: UInt64]

    /// What one transaction gives, as far as it decides on the owner.
    private struct Period {
        var transaction: UInt64
        /// The newest statement of the transaction, which gives the start (P1).
        var newest: Fact
        var tie: PeriodTie
        /// The newest that has an account.
        var named: Fact?
    }

    /// Reads the accounts of a purchase's periods.
    ///
    /// - Parameters:
    ///   - facts: its completed and renewed, ascending by sequence.
    ///   - customers: names of one customer (C2).
    ///   - erasures: the sequence of the first erasure of each customer.
    init(_ facts: [Fact], _ customers: Links, _ erasures: [UInt64: UInt64]) {
        self.facts = facts
        self.customers = customers
        self.erasures = erasures
        // Most purchases that a claim gave an owner have none.
        guard facts.contains(where: { $0.other != nil }) else { return }
        let named = Self.periods(facts).filter { $0.named != nil }
            .sorted { ($0.newest.time, $0.tie) < ($1.newest.time, $1.tie) }
        for period in named {
            if periods.last?.newest.time == period.newest.time { periods.removeLast() }
            periods.append(period)
        }
    }

    private static func periods(_ facts: [Fact]) -> [Period] {
        var places: [UInt64: Int] = [:]
        var periods: [Period] = []
        for fact in facts {
            guard let transaction = fact.transaction else { continue }
            guard let place = places[transaction] else {
                places[transaction] = periods.count
                periods.append(
                    Period(
                        transaction: transaction,
                        newest: fact,
                        tie: PeriodTie(fact),
                        named: fact.other == nil ? nil : fact
                    )
                )
                continue
            }
            if fact.isNewer(than: periods[place].newest) { periods[place].newest = fact }
            if fact.other != nil, periods[place].named.map(fact.isNewer) ?? true {
                periods[place].named = fact
            }
            periods[place].tie = periods[place].tie.joined(PeriodTie(fact))
        }
        return periods
    }

    /// What accounts claim.
    struct Claims {
        /// The first account, and each that is another customer than the one before it.
        var steps: [Ownership.Step] = []
        /// Where an account claims nothing since the one before it was erased: the statements behind
        /// that, by the statement that names the account.
        var passedOver: [UInt64: [UInt64]] = [:]
    }

    /// Walks the accounts.
    var claims: Claims {
        var claims = Claims()
        var before: (customer: UInt64, statement: UInt64)?
        var met: Set<UInt64> = []
        for period in periods {
            guard let named = period.named, let account = named.other else { continue }
            let customer = customers.canonical(account)
            let isFirst = met.insert(customer).inserted
            defer { before = (customer, named.sequence) }
            if let before {
                if before.customer == customer { continue }
                if let erasure = erasure(of: before.customer, whenNamed: customer, period) {
                    claims.passedOver[named.sequence] = [before.statement, erasure]
                    continue
                }
            }
            claims.steps.append(
                Ownership.Step(
                    time: period.newest.time,
                    sequence: period.tie.sequence,
                    statement: named.sequence,
                    claimBefore: isFirst ? nil : claims.steps.last?.statement,
                    kind: .account(customer)
                )
            )
        }
        return claims
    }

    /// The erasure of a customer before a period's account was told: the next one may be the same
    /// person under a new number, and an erasure changes no answer about anybody else.
    private func erasure(
        of erased: UInt64,
        whenNamed customer: UInt64,
        _ period: Period
    ) -> UInt64? {
        guard let erasure = erasures[erased] else { return nil }
        let told = facts.first { fact in
            fact.transaction == period.transaction
                && fact.other.map(customers.canonical) == customer
        }
        return told.flatMap { erasure < $0.sequence ? erasure : nil }
    }
}
