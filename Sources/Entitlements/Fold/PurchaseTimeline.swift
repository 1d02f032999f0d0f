/// One purchase over effective time, as known at R (model.md, section 3).
///
/// It does not know the T of any question: asking looks up (law 3).
public struct PurchaseTimeline: Sendable {
    /// The name at the end of its links (P13), as a number.
    public let number: UInt64
    /// The store of the name that it is shown under (K9).
    public let store: String?
    /// What its transactions give, in P3's order.
    public internal(set) var periods: [Period]
    /// P5.
    public let pauses: [Interval]
    /// All statements about it.
    let facts: FactsByKind

    /// The texts of the facts.
    let names: FactNames

    /// What one transaction gives.
    public struct Period: Sendable {
        /// The transaction's tag.
        public var transaction: UInt64
        /// The statement that gives product, kind, start, price and the like (P1).
        public var statement: Statement
        /// The product (P1).
        public var productID: String
        /// Its kind (P1).
        public var kind: ProductKind
        /// First instant.
        public var start: Instant
        /// End by P2 and P3, without grace and leeway; nil: without end.
        public var end: Instant?
        /// P4.
        public var grace: Interval?
        /// P12.
        public var leeway: Interval?
        /// P6, each with its statement.
        public var revocations: [Revocation] = []
        /// P7, ascending by `(time, sequence)`.
        var verdicts: [Verdict] = []
        /// P8.
        public var access: [Interval] = []

        /// Lowest sequence of a completed or renewed of the transaction (P3).
        var lowestSequence: UInt64
        /// The newest of P1's statement and the extensions (P2).
        var base: Statement
        /// Whether an `expired` newer than the base speaks of it (P2, P12).
        var isCut = false
    }

    /// A stretch that a refund or revocation takes away.
    public struct Revocation: Sendable {
        /// What is taken away.
        public var interval: Interval
        /// The `refunded` or `revoked`.
        public var statement: Statement
    }

    /// What a store or a check says of a period from an instant on.
    public struct Verdict: Sendable {
        /// From when it holds.
        public var time: Instant
        /// Place in the log of the event that says so.
        public var sequence: UInt64
        /// Whether it is `passed`.
        public var isPassed: Bool
    }

    /// Folds the statements about one purchase.
    ///
    /// `facts`: all events that name it as subject, under any of its names (P13), ascending by
    /// sequence; their transaction tags compare.
    ///
    /// `names`: the texts of the facts.
    ///
    /// `leewayMilliseconds`: P12's L by the catalog in force at an instant, in milliseconds.
    public init(
        number: UInt64,
        facts: [Fact],
        names: FactNames,
        leewayMilliseconds: (Instant) -> Int64
    ) {
        self.number = number
        self.names = names
        let byKind = FactsByKind(facts)
        self.facts = byKind
        store = facts.first { $0.subject == number && $0.store != nil }?.store.map { names[$0] }
        periods = Self.orderedPeriods(byKind, names)
        pauses = Self.pauses(byKind, periods)
        endPeriods()
        addGrace()
        addLeeway(leewayMilliseconds)
        let verdicts = byKind[.verificationPassed, .verificationFailed].sorted(by: Fact.inTime)
        let common = Self.verdicts(verdicts, on: nil)
        for index in periods.indices {
            periods[index].revocations = revocations(of: periods[index])
            // Most verdicts name no transaction: then the periods share them.
            periods[index].verdicts =
                common.count == verdicts.count
                ? common : Self.verdicts(verdicts, on: periods[index].transaction)
            periods[index].access = access(of: periods[index])
        }
    }

    /// P1 and P3's order.
    private static func orderedPeriods(_ facts: FactsByKind, _ names: FactNames) -> [Period] {
        var periods: [Period] = []
        for fact in facts[.purchaseCompleted, .purchaseRenewed] {
            guard let transaction = fact.transaction else { continue }
            guard let index = periods.firstIndex(where: { $0.transaction == transaction }) else {
                periods.append(Period(fact, names, transaction: transaction))
                continue
            }
            periods[index].restate(fact, names)
        }
        periods.sort { ($0.start, $0.lowestSequence) < ($1.start, $1.lowestSequence) }
        return periods
    }

    /// P5: each pause ends at the earliest resumption or period start strictly after it.
    private static func pauses(_ facts: FactsByKind, _ periods: [Period]) -> [Interval] {
        guard !facts[.purchasePaused].isEmpty else { return [] }
        let resumptions = facts[.purchaseResumed].map(\.time) + periods.map(\.start)
        return facts[.purchasePaused].map { pause in
            Interval(start: pause.time, end: resumptions.filter { $0 > pause.time }.min())
        }
    }

    /// The period that a statement speaks of (section 3, before P13).
    func indexSpokenOf(by fact: Fact) -> Int? {
        if let transaction = fact.transaction {
            return periods.firstIndex { $0.transaction == transaction }
        }
        return periods.lastIndex { $0.kind != .consumable && $0.start < fact.time }
    }

    /// Those of some statements that speak of a period.
    func only(_ statements: ArraySlice<Fact>, speakingOf index: Int) -> [Fact] {
        statements.filter { indexSpokenOf(by: $0) == index }
    }

    /// P2, then P3's cut of auto-renewable periods.
    private mutating func endPeriods() {
        for fact in facts[.purchaseExtended] {
            guard let index = indexSpokenOf(by: fact),
                fact.statement.isNewer(than: periods[index].base)
            else { continue }
            periods[index].base = fact.statement
            periods[index].end = fact.end
        }
        for expired in facts[.purchaseExpired] {
            guard let index = indexSpokenOf(by: expired),
                expired.statement.isNewer(than: periods[index].base)
            else { continue }
            periods[index].isCut = true
            periods[index].end = Instant.earlier(periods[index].end, expired.time)
        }
        for index in periods.indices {
            periods[index].end = periods[index].end.map { max($0, periods[index].start) }
        }
        for index in periods.indices where periods[index].kind == .autoRenewable {
            periods[index].end = Instant.earlier(
                periods[index].end,
                nextRenewableStart(after: index)
            )
        }
    }

    private func nextRenewableStart(after index: Int) -> Instant? {
        periods[(index + 1)...].first { $0.kind == .autoRenewable }?.start
    }

    /// P4.
    private mutating func addGrace() {
        guard !facts[.purchaseGraceStarted].isEmpty else { return }
        for index in periods.indices {
            guard let end = periods[index].end,
                let newest = only(facts[.purchaseGraceStarted], speakingOf: index).newest()
            else { continue }
            let stop = only(facts[.purchaseRetryStarted, .purchaseExpired], speakingOf: index)
                .filter { $0.isNewer(than: newest) }.map(\.time).min()
            var graceEnd = Instant.earlier(newest.end, stop)
            if periods[index].kind == .autoRenewable {
                graceEnd = Instant.earlier(graceEnd, nextRenewableStart(after: index))
            }
            let grace = Interval(start: end, end: graceEnd)
            if !grace.isEmpty { periods[index].grace = grace }
        }
    }

    /// P12.
    private mutating func addLeeway(_ leewayMilliseconds: (Instant) -> Int64) {
        guard let index = periods.lastIndex(where: { $0.kind == .autoRenewable }),
            let end = periods[index].end, !periods[index].isCut,
            only(facts[.purchaseGraceStarted, .purchaseRetryStarted], speakingOf: index).isEmpty,
            renewalIntent(asOf: nil) != false
        else { return }
        let leeway = Interval(
            start: end,
            end: end.advanced(byMilliseconds: leewayMilliseconds(end))
        )
        if !leeway.isEmpty { periods[index].leeway = leeway }
    }

    /// P6.
    private func revocations(of period: Period) -> [Revocation] {
        let revocations = facts[.revocationRefunded, .revocationRevoked]
        guard !revocations.isEmpty else { return [] }
        let reversals = facts[.revocationReversed].filter {
            $0.transaction == nil || $0.transaction == period.transaction
        }
        return revocations.compactMap { fact in
            let takesAway =
                fact.transaction.map { $0 == period.transaction } ?? (period.start <= fact.time)
            guard takesAway else { return nil }
            let end = reversals.map(\.time).filter { $0 >= fact.time }.min()
            return Revocation(
                interval: Interval(start: fact.time, end: end),
                statement: fact.statement
            )
        }
    }

    /// P7: those of some verdicts that name a transaction or none.
    private static func verdicts(_ facts: [Fact], on transaction: UInt64?) -> [Verdict] {
        facts.filter { $0.transaction == nil || $0.transaction == transaction }.map {
            Verdict(
                time: $0.time,
                sequence: $0.sequence,
                isPassed: $0.kind == .verificationPassed
            )
        }
    }

    /// P8.
    private func access(of period: Period) -> [Interval] {
        guard period.kind != .consumable else { return [] }
        var given = [Interval(start: period.start, end: period.end)]
        if let grace = period.grace { given.append(grace) }
        if let leeway = period.leeway { given.append(leeway) }
        let taken = period.revocations.map(\.interval) + pauses + period.unverified
        return given.subtracting(taken)
    }
}

extension PurchaseTimeline.Period {
    fileprivate init(_ fact: Fact, _ names: FactNames, transaction: UInt64) {
        self.transaction = transaction
        statement = fact.statement
        productID = fact.label.map { names[$0] } ?? ""
        kind = fact.productKind ?? .consumable
        start = fact.time
        end = fact.end
        lowestSequence = fact.sequence
        base = fact.statement
    }

    /// P1: a newer statement of the transaction gives all of the period but its place in ties,
    /// which is the lowest sequence (P3).
    fileprivate mutating func restate(_ fact: Fact, _ names: FactNames) {
        let lowest = min(lowestSequence, fact.sequence)
        if fact.statement.isNewer(than: base) {
            self = Self(fact, names, transaction: transaction)
        }
        lowestSequence = lowest
    }

    /// P7: the verdict at an instant; nil: there is none.
    public func verdict(at instant: Instant) -> PurchaseTimeline.Verdict? {
        verdicts.last { $0.time <= instant } ?? verdicts.first
    }

    /// P7: whether the verdict at an instant is `passed`.
    public func isVerified(at instant: Instant) -> Bool {
        verdict(at: instant)?.isPassed ?? false
    }

    /// P6: the newest of the revocations that cover an instant; nil: none does.
    public func revocation(at instant: Instant) -> PurchaseTimeline.Revocation? {
        revocations.filter { $0.interval.contains(instant) }
            .max { $1.statement.isNewer(than: $0.statement) }
    }

    /// The stretches without a `passed` verdict.
    fileprivate var unverified: [Interval] {
        let always = Instant(milliseconds: .min)
        guard !verdicts.isEmpty else { return [Interval(start: always, end: nil)] }
        return verdicts.indices.compactMap { index in
            guard !verdicts[index].isPassed else { return nil }
            let next = index + 1 < verdicts.count ? verdicts[index + 1].time : nil
            return Interval(start: index == 0 ? always : verdicts[index].time, end: next)
        }
    }
}
