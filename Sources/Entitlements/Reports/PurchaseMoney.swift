/// The money of one purchase, statement by statement in the order of the log.
///
/// The rules are those of Model, "One purchase": a transaction counts once, by its newest statement
/// (P1), from its start on, while the verdict on it at T is `passed` (P7); what a family shares is
/// paid for elsewhere. A refund that names no transaction gives back the period that it speaks of.
/// Refunds of a transaction with no reversal between them are one refund, told several times: its
/// date is the first's, its amount the newest's, or the price where that says none. A reversal puts
/// it back (P6).
struct PurchaseMoney {
    private(set) var transactions: [Transaction] = []
    private var places: [UInt64: Int] = [:]
    /// What names no transaction.
    private var common = Statements()
    /// Refunds that name no transaction, by the one that they speak of; nil: to be worked out.
    private var spokenOf: [Int: [MoneyFact]]?
    /// Transactions whose takings may have changed since they were asked for last.
    private var touched: Set<Int> = []
    private var areAllTouched = false

    /// What was said of one transaction, or of none.
    struct Statements {
        var verdicts: [Fact] = []
        var refunds: [MoneyFact] = []
        var reversals: [Instant] = []
    }

    /// One transaction.
    struct Transaction {
        /// P1; nil until a statement gives the period.
        var newest: MoneyFact?
        /// P3; nil until a statement gives the period.
        var tie: PeriodTie?
        var own = Statements()
    }

    /// Adds the next statement.
    mutating func add(_ fact: MoneyFact) {
        guard fact.fact.kind != .purchaseLinked else { return }
        spokenOf = nil
        guard let tag = fact.fact.transaction else {
            common.add(fact)
            areAllTouched = true
            return
        }
        let place = place(of: tag)
        touched.insert(place)
        guard fact.fact.kind == .purchaseCompleted || fact.fact.kind == .purchaseRenewed else {
            return transactions[place].own.add(fact)
        }
        // Which period a statement without a transaction speaks of may be another one now.
        if !common.refunds.isEmpty { areAllTouched = true }
        transactions[place].state(fact)
    }

    private mutating func place(of tag: UInt64) -> Int {
        if let place = places[tag] { return place }
        places[tag] = transactions.count
        transactions.append(Transaction())
        return transactions.count - 1
    }

    /// The transactions that were spoken of since the last call, in the order of their coming.
    mutating func takeTouched() -> [Int] {
        defer {
            touched.removeAll(keepingCapacity: true)
            areAllTouched = false
        }
        return areAllTouched ? Array(transactions.indices) : touched.sorted()
    }

    // MARK: At T

    /// What a transaction brought in, at T; nil where it does not count.
    mutating func takings(of place: Int, at instant: Instant) -> Takings? {
        let transaction = transactions[place]
        guard let statement = transaction.newest, statement.fact.time <= instant,
            !statement.isFamilyShared,
            isVerified(transaction, at: instant)
        else { return nil }
        return Takings(
            statement: statement,
            refunds: refunds(of: place, statement, at: instant)
        )
    }

    /// Whether the verdict on a transaction is passed at an instant (P7).
    private func isVerified(_ transaction: Transaction, at instant: Instant) -> Bool {
        let verdicts = transaction.own.verdicts + common.verdicts
        let last = verdicts.filter { $0.time <= instant }.max(by: Fact.inTime)
        return (last ?? verdicts.min(by: Fact.inTime))?.kind == .verificationPassed
    }

    /// P6, read as money.
    private mutating func refunds(
        of place: Int,
        _ statement: MoneyFact,
        at instant: Instant
    ) -> [Takings.Refund] {
        let speaking = refundsWithoutTransaction()[place] ?? []
        let told = (transactions[place].own.refunds + speaking)
            .filter { $0.fact.time <= instant }
            .sorted { Fact.inTime($0.fact, $1.fact) }
        guard !told.isEmpty else { return [] }
        let reversals = (transactions[place].own.reversals + common.reversals)
            .filter { $0 <= instant }
        var refunds: [Takings.Refund] = []
        var newest: [MoneyFact] = []
        for refund in told {
            let reversedAt = reversals.filter { $0 >= refund.fact.time }.min()
            // Reversed in that moment: it never stood.
            if reversedAt == refund.fact.time { continue }
            // The next reversal is the same, so there is none between them.
            if let last = refunds.last, last.reversedAt == reversedAt {
                if !refund.fact.isNewer(than: newest[newest.count - 1].fact) { continue }
                newest[newest.count - 1] = refund
            } else {
                refunds.append(
                    Takings.Refund(time: refund.fact.time, reversedAt: reversedAt, micros: 0)
                )
                newest.append(refund)
            }
        }
        for (index, refund) in newest.enumerated() {
            let isStated = refund.priceMicros != nil
            refunds[index].micros = refund.priceMicros ?? statement.priceMicros ?? 0
            refunds[index].currency =
                (isStated ? refund.currency : nil) ?? statement.currency
        }
        return refunds
    }

    private mutating func refundsWithoutTransaction() -> [Int: [MoneyFact]] {
        if let spokenOf { return spokenOf }
        var found: [Int: [MoneyFact]] = [:]
        for refund in common.refunds {
            if let place = place(spokenOfBy: refund.fact) {
                found[place, default: []].append(refund)
            }
        }
        spokenOf = found
        return found
    }

    /// The period that a statement without a transaction speaks of: the last in P3's order that
    /// starts before it, consumables left out.
    private func place(spokenOfBy fact: Fact) -> Int? {
        var found: (place: Int, start: Instant, tie: PeriodTie)?
        for (place, transaction) in transactions.enumerated() {
            guard let statement = transaction.newest?.fact, let tie = transaction.tie,
                statement.productKind != .consumable, statement.time < fact.time
            else { continue }
            if let last = found, (statement.time, tie) < (last.start, last.tie) { continue }
            found = (place, statement.time, tie)
        }
        return found?.place
    }
}

extension PurchaseMoney.Transaction {
    /// P1: the newest statement gives all but the place in ties (P3).
    fileprivate mutating func state(_ fact: MoneyFact) {
        let told = PeriodTie(fact.fact)
        tie = tie?.joined(told) ?? told
        if newest.map({ fact.fact.isNewer(than: $0.fact) }) ?? true { newest = fact }
    }
}

extension PurchaseMoney.Statements {
    fileprivate mutating func add(_ fact: MoneyFact) {
        switch fact.fact.kind {
        case .verificationPassed, .verificationFailed: verdicts.append(fact.fact)
        case .revocationReversed: reversals.append(fact.fact.time)
        default: if fact.givesBack { refunds.append(fact) }
        }
    }
}
