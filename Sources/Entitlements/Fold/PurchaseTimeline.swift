/// One purchase over effective time, as known at R (Model, "One purchase").
///
/// It does not know the T of any question: asking looks up (law 3).
package struct PurchaseTimeline: Sendable {
    /// The name at the end of its links (P13), as a number.
    package let number: UInt64
    /// The store of the name that it is shown under (K9).
    package let store: String?
    /// What its transactions give, in P3's order.
    package let periods: [Period]
    /// The pauses, which take from every period (P5).
    package let pauses: [Interval]
    /// All statements about it.
    let facts: FactsByKind

    /// The texts of the facts.
    let names: FactNames

    /// What one transaction gives.
    package struct Period: Sendable {
        /// The transaction's tag.
        package var transaction: UInt64
        /// The statement that gives product, kind, start, price and the like (P1).
        package var statement: Statement
        /// The product (P1).
        package var productID: String
        /// Its kind (P1).
        package var kind: ProductKind
        /// First instant.
        package var start: Instant
        /// End by P2 and P3, without grace and leeway; nil: without end.
        package var end: Instant?
        /// The grace behind its end (P4).
        package var grace: Interval?
        /// The leeway behind its end (P12).
        package var leeway: Interval?
        /// The revocations (P6), each with its statement.
        package var revocations: [Revocation] = []
        /// The verdicts (P7), ascending by `(time, sequence)`.
        var verdicts: [Verdict] = []
        /// The stretches in which the period gives access (P8).
        package var access: [Interval] = []

        /// Lowest sequence of a completed or renewed of the transaction (P3).
        var lowestSequence: UInt64
        /// The newest of P1's statement and the extensions (P2).
        var base: Statement
        /// Whether an `expired` newer than the base speaks of it (P2, P12).
        var isCut = false
    }

    /// A stretch that a refund or revocation takes away.
    package struct Revocation: Sendable {
        /// What is taken away.
        package var interval: Interval
        /// The `refunded` or `revoked`.
        package var statement: Statement
    }

    /// What a store or a check says of a period from an instant on.
    package struct Verdict: Sendable {
        /// From when it holds.
        package var time: Instant
        /// Place in the log of the event that says so.
        package var sequence: UInt64
        /// Whether it is `passed`.
        package var isPassed: Bool
    }

    /// Folds the statements about one purchase.
    ///
    /// `facts`: all events that name it as subject, under any of its names (P13), ascending by
    /// sequence; their transaction tags compare.
    ///
    /// `names`: the texts of the facts.
    ///
    /// `leewayMilliseconds`: P12's L by the catalog in force at an instant, in milliseconds.
    package init(
        number: UInt64,
        facts: [Fact],
        names: FactNames,
        leewayMilliseconds: (Instant) -> Int64
    ) {
        self.init(
            number: number,
            store: facts.first { $0.subject == number && $0.store != nil }?.store
                .map { names[$0] },
            facts: FactsByKind(facts),
            names: names,
            leewayMilliseconds: leewayMilliseconds
        )
    }

    private init(
        number: UInt64,
        store: String?,
        facts byKind: FactsByKind,
        names: FactNames,
        leewayMilliseconds: (Instant) -> Int64
    ) {
        self.number = number
        self.store = store
        self.names = names
        facts = byKind
        var periods = [Period](orderedFrom: byKind, names)
        periods.addEnds(byKind)
        periods.addGrace(byKind)
        periods.addLeeway(byKind, milliseconds: leewayMilliseconds)
        periods.addRevocations(byKind)
        periods.addVerdicts(byKind)
        let pauses = Self.pauses(byKind, periods)
        periods.addAccess(pauses)
        self.periods = periods
        self.pauses = pauses
    }

    /// The same statements with another leeway (P12), which is all that a purchase takes from a
    /// catalog.
    func folded(leewayMilliseconds: (Instant) -> Int64) -> PurchaseTimeline {
        PurchaseTimeline(
            number: number,
            store: store,
            facts: facts,
            names: names,
            leewayMilliseconds: leewayMilliseconds
        )
    }

    /// P5: each pause ends at the earliest resumption or period start strictly after it.
    private static func pauses(_ facts: FactsByKind, _ periods: [Period]) -> [Interval] {
        guard !facts[.purchasePaused].isEmpty else { return [] }
        let resumptions = facts[.purchaseResumed].map(\.time) + periods.map(\.start)
        return facts[.purchasePaused].map { pause in
            Interval(start: pause.time, end: resumptions.filter { $0 > pause.time }.min())
        }
    }

    /// Those of some statements that speak of a period.
    func only(_ statements: ArraySlice<Fact>, speakingOf index: Int) -> [Fact] {
        statements.filter { periods.index(spokenOfBy: $0) == index }
    }
}

extension PurchaseTimeline.Period {
    /// P7: the verdict at an instant; nil: there is none.
    package func verdict(at instant: Instant) -> PurchaseTimeline.Verdict? {
        verdicts.last { $0.time <= instant } ?? verdicts.first
    }

    /// P7: whether the verdict at an instant is `passed`.
    package func isVerified(at instant: Instant) -> Bool {
        verdict(at: instant)?.isPassed ?? false
    }

    /// P6: the newest of the revocations that cover an instant; nil: none does.
    package func revocation(at instant: Instant) -> PurchaseTimeline.Revocation? {
        revocations.filter { $0.interval.contains(instant) }
            .max { $1.statement.isNewer(than: $0.statement) }
    }
}
