/// A fact that the ledger learned of well after it held.
package struct LateFact: Sendable, Hashable {
    /// The event's place in the log.
    package var sequence: UInt64
    /// From its effective time (T1) to its recorded one (T3), in milliseconds.
    package var delayMilliseconds: Int64

    /// What is learned later than this after it held is late: stores tell of most things within
    /// minutes, and try again for some days.
    package static let threshold: Int64 = Instant.millisecondsPerDay

    /// Nil: it came in time.
    package init?(sequence: UInt64, time: Instant, recordedAt: Instant) {
        let (delay, overflow) = recordedAt.milliseconds
            .subtractingReportingOverflow(time.milliseconds)
        guard !overflow, delay > Self.threshold else { return nil }
        self.sequence = sequence
        delayMilliseconds = delay
    }
}
