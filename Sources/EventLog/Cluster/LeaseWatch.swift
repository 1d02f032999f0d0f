/// Tells whether a lease moves, by a clock since the machine's start: no clock of the day takes part.
package struct LeaseWatch: Sendable {
    /// How long a lease stands that nobody renews, milliseconds.
    package static let duration: Int64 = 5000

    private var seen: (term: UInt64, beat: UInt64, since: Int64)?
    private let duration: Int64

    /// Has seen nothing.
    package init(duration: Int64 = Self.duration) { self.duration = duration }

    /// Notes a lease as it was read.
    ///
    /// `readAt`, `seenAt`: milliseconds since the machine's start, taken before it was read and behind that. Another
    /// beat counts from when it was seen; that it stands is known of the time until the next read began.
    ///
    /// - Returns: whether it may be taken: it stood unchanged for its whole duration, or nobody leads; never the
    ///   last one.
    package mutating func note(_ lease: JournalLease, readAt: Int64, seenAt: Int64) -> Bool {
        if lease.isLast { return false }
        if lease.isVacant { return true }
        guard let seen, seen.term == lease.leadership.term, seen.beat == lease.beat,
            seen.since <= readAt
        else {
            seen = (lease.leadership.term, lease.beat, seenAt)
            return false
        }
        // Fits: both are times since a start, the second is not the earlier one.
        return readAt - seen.since >= duration
    }
}
