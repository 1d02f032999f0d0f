/// What decides between periods of one start (P3): when the store first spoke of the transaction,
/// whatever order its statements came in, then where the first of them stands in the log.
struct PeriodTie: Sendable, Comparable {
    /// The earliest observed time of a completed or renewed of the transaction.
    private var observedAt: Instant
    /// The lowest sequence of one.
    private(set) var sequence: UInt64

    /// That of a transaction of which one completed or renewed is known.
    init(_ fact: Fact) {
        observedAt = fact.observedAt
        sequence = fact.sequence
    }

    /// That of a transaction of which both were told.
    func joined(_ other: PeriodTie) -> PeriodTie {
        var joined = self
        joined.observedAt = min(observedAt, other.observedAt)
        joined.sequence = min(sequence, other.sequence)
        return joined
    }

    static func < (left: PeriodTie, right: PeriodTie) -> Bool {
        (left.observedAt, left.sequence) < (right.observedAt, right.sequence)
    }
}
