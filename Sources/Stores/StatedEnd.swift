import Entitlements

/// When a period ends, as its store says it.
enum StatedEnd: Hashable, Sendable {
    /// Absent or `null`.
    case unstated
    /// After 2200: without end (Stores, rule 6).
    case never
    case at(Instant)

    /// Takes a stated instant; nil: it lies before 2000, which no end does.
    init?(_ instant: Instant) {
        guard instant >= Instant.earliest else { return nil }
        self = instant.isPlausible ? .at(instant) : .never
    }

    /// The instant, nil for both kinds of none.
    var instant: Instant? {
        guard case .at(let instant) = self else { return nil }
        return instant
    }
}
