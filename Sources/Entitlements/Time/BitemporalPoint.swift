/// Where in both times a question stands: at T, as known at R.
public struct BitemporalPoint: Hashable, Sendable {
    /// Effective time T of the question.
    public var at: Instant
    /// What was known.
    public var knownAt: Known

    /// A prefix of the log (T4).
    public enum Known: Hashable, Sendable {
        /// All that is recorded.
        case everything
        /// What had been recorded at or before this instant.
        case instant(Instant)
        /// The first so many events of the log.
        case sequence(UInt64)
    }

    /// Makes a point.
    public init(at: Instant, knownAt: Known) {
        self.at = at
        self.knownAt = knownAt
    }
}
