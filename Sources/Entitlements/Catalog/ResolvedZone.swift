/// A time zone as its offsets from UTC over time, resolved at publish (K10): the fold reads no
/// zone database.
package struct ResolvedZone: Sendable, Hashable {
    /// Seconds east of UTC before the first transition.
    package var initialOffsetSeconds: Int64
    /// Changes of the offset, ascending by time.
    package var transitions: [Transition]

    /// From an instant on, another offset holds.
    package struct Transition: Sendable, Hashable {
        /// The first instant of the new offset.
        package var at: Instant
        /// Seconds east of UTC.
        package var offsetSeconds: Int64

        /// Makes a transition.
        package init(at: Instant, offsetSeconds: Int64) {
            self.at = at
            self.offsetSeconds = offsetSeconds
        }
    }

    /// Coordinated universal time.
    package static let utc = ResolvedZone(initialOffsetSeconds: 0, transitions: [])

    /// Makes a zone of transitions that ascend.
    package init(initialOffsetSeconds: Int64, transitions: [Transition]) {
        self.initialOffsetSeconds = initialOffsetSeconds
        self.transitions = transitions
    }

    /// The earliest instant whose local time is at or after a local time, given as milliseconds
    /// since the local 1970-01-01T00:00.
    func firstInstant(atOrAfterLocal local: Int64) -> Instant {
        var start = Int64.min
        var offset = initialOffsetSeconds * 1000
        for transition in transitions {
            let candidate = local - offset
            // The stretch of this offset runs from `start` to the transition.
            if max(candidate, start) < transition.at.milliseconds {
                return Instant(milliseconds: max(candidate, start))
            }
            start = transition.at.milliseconds
            offset = transition.offsetSeconds * 1000
        }
        return Instant(milliseconds: max(local - offset, start))
    }

    /// Local milliseconds at an instant.
    func local(_ instant: Instant) -> Int64 {
        instant.milliseconds + offsetSeconds(at: instant) * 1000
    }

    /// Seconds east of UTC at an instant.
    package func offsetSeconds(at instant: Instant) -> Int64 {
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].at <= instant { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? initialOffsetSeconds : transitions[low - 1].offsetSeconds
    }
}
