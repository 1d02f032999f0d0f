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

        /// What decides between periods of one start.
        var tie: PeriodTie
        /// The newest of P1's statement and the extensions (P2).
        var base: Statement
        /// Whether it does not renew and the base states no end: the catalog's duration is its end.
        var lacksStatedEnd = false
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
    /// `catalogs`: of the same prefix, for leeways (P12) and durations (P2).
    package init(
        number: UInt64,
        facts: [Fact],
        names: FactNames,
        catalogs: CatalogHistory
    ) {
        self.init(
            number: number,
            store: facts.first { $0.subject == number && $0.store != nil }?.store
                .map { names[$0] },
            facts: FactsByKind(facts),
            names: names,
            catalogs: catalogs
        )
    }

    private init(
        number: UInt64,
        store: String?,
        facts byKind: FactsByKind,
        names: FactNames,
        catalogs: CatalogHistory
    ) {
        self.number = number
        self.store = store
        self.names = names
        facts = byKind
        var periods = [Period](orderedFrom: byKind, names)
        periods.addEnds(byKind) { catalogs.end(of: $0.productID, in: store, from: $0.start) }
        periods.addGrace(byKind)
        periods.addLeeway(byKind, milliseconds: catalogs.leewayMilliseconds)
        periods.addRevocations(byKind)
        periods.addVerdicts(byKind)
        let pauses = Self.pauses(byKind, periods)
        periods.addAccess(pauses)
        self.periods = periods
        self.pauses = pauses
    }

    /// The same statements under other catalogs.
    func folded(under catalogs: CatalogHistory) -> PurchaseTimeline {
        PurchaseTimeline(
            number: number,
            store: store,
            facts: facts,
            names: names,
            catalogs: catalogs
        )
    }

    /// Whether other catalogs make other periods of it: by the leeway behind an end (P12), or by the
    /// duration of a period without a stated one (P2), which is all that a purchase takes from them.
    func isMoved(from catalogs: CatalogHistory, to others: CatalogHistory) -> Bool {
        periods.contains { period in
            if period.lacksStatedEnd {
                let ends = [catalogs, others].map {
                    $0.end(of: period.productID, in: store, from: period.start)
                }
                if ends[0] != ends[1] { return true }
            }
            return period.end.map {
                catalogs.leewayMilliseconds(at: $0) != others.leewayMilliseconds(at: $0)
            } ?? false
        }
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
