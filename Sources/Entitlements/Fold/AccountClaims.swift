/// What the accounts of a purchase's periods claim (C1).
///
/// An account that nothing named before an erasure counts, beside the account of whom it erased, as that
/// one's: it may be the same person under a new number. So an erasure changes no answer about anybody
/// else, whatever a store tells again.
struct AccountClaims {
    /// What they claim, and what they do not.
    private(set) var claims = Claims()
    private let customers: Links
    private let erased: ErasedAccounts

    /// What accounts claim.
    struct Claims {
        /// The first account, and each that is another customer than the one before it.
        var steps: [Ownership.Step] = []
        /// Where an account counts as the one beside it, which was erased: the statements behind that, by
        /// the statement that names the account.
        var passedOver: [UInt64: [UInt64]] = [:]
    }

    /// Whom a statement names.
    private struct Account {
        var statement: Statement
        /// The customer that it counts as, by any of their names.
        var customer: UInt64
    }

    /// What one transaction gives, as far as it decides on the owner.
    private struct Period {
        /// The newest statement of the transaction, which gives the start (P1).
        var newest: Fact
        var tie: PeriodTie
        /// That of the newest statement that has one.
        var account: Account?
    }

    /// Reads the accounts of a purchase's periods.
    ///
    /// - Parameters:
    ///   - facts: its completed and renewed, ascending by sequence.
    ///   - customers: names of one customer (C2).
    ///   - erased: the erased among the accounts.
    init(_ facts: [Fact], _ customers: Links, _ erased: ErasedAccounts) {
        self.customers = customers
        self.erased = erased
        // Most purchases that a claim gave an owner have none.
        guard facts.contains(where: { $0.other != nil }) else { return }
        let periods = periods(of: facts)
        let accounts = accountsByStart(periods)
        walk(accounts)
    }

    /// Of each transaction, in no order.
    private mutating func periods(of facts: [Fact]) -> [Period] {
        var places: [UInt64: Int] = [:]
        var periods: [Period] = []
        // An account changes from the one that the store said before, in whatever order they were told.
        for fact in erased.isEmpty ? facts : facts.sorted(by: { $1.isNewer(than: $0) }) {
            guard let transaction = fact.transaction else { continue }
            let account = fact.other.map { Account(statement: fact.statement, customer: $0) }
            guard let place = places[transaction] else {
                places[transaction] = periods.count
                periods.append(Period(newest: fact, tie: PeriodTie(fact), account: account))
                continue
            }
            if fact.isNewer(than: periods[place].newest) { periods[place].newest = fact }
            periods[place].tie = periods[place].tie.joined(PeriodTie(fact))
            guard let account else { continue }
            if let known = periods[place].account {
                guard fact.statement.isNewer(than: known.statement), !counts(account, as: known)
                else { continue }
            }
            periods[place].account = account
        }
        return periods
    }

    /// The periods that have an account, each start's last in P3's order.
    private mutating func accountsByStart(
        _ periods: [Period]
    ) -> [(period: Period, account: Account)] {
        let named = periods.filter { $0.account != nil }
            .sorted { ($0.newest.time, $0.tie) < ($1.newest.time, $1.tie) }
        var starts: [(period: Period, account: Account)] = []
        for period in named {
            guard let account = period.account else { continue }
            if let last = starts.last, last.period.newest.time == period.newest.time {
                if counts(account, as: last.account) { continue }
                starts.removeLast()
            }
            starts.append((period, account))
        }
        // An earlier period may be told later, too.
        for place in starts.indices.dropLast().reversed() {
            let next = starts[place + 1].account
            if counts(starts[place].account, as: next) {
                starts[place].account.customer = next.customer
            }
        }
        return starts
    }

    /// Claims where the account changes.
    private mutating func walk(_ starts: [(period: Period, account: Account)]) {
        var before: Account?
        var met: Set<UInt64> = []
        for (period, account) in starts {
            let customer = customers.canonical(account.customer)
            let isFirst = met.insert(customer).inserted
            defer { before = account }
            if let before {
                if customers.canonical(before.customer) == customer { continue }
                if counts(account, as: before) { continue }
            }
            claims.steps.append(
                Ownership.Step(
                    time: period.newest.time,
                    sequence: period.tie.sequence,
                    statement: account.statement.sequence,
                    claimBefore: isFirst ? nil : claims.steps.last?.statement,
                    kind: .account(customer)
                )
            )
        }
    }

    /// Whether an account counts as the one beside it: that one's customer was erased before anything
    /// named this one.
    private mutating func counts(_ account: Account, as other: Account) -> Bool {
        guard !erased.isEmpty,
            let erasure = erased.erasure(
                of: customers.canonical(other.customer),
                beforeNaming: customers.canonical(account.customer)
            )
        else { return false }
        claims.passedOver[account.statement.sequence, default: []] += [
            other.statement.sequence, erasure,
        ]
        return true
    }
}
