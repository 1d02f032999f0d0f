import Entitlements

/// When an answer of Google Play says what nobody told: before all that is told of a purchase, so that this
/// counts instead (P1), and what ended something stays ended (P4).
///
/// Unlike `saidWeakly`, these order what several answers say of one order, under several tokens too, each
/// of which has a start of its own: the one that knows most counts, in whatever order they come.
extension Instant {
    /// Of what was so at this instant: the earliest counts.
    var saidAsEarliest: Instant {
        // Six years at most; Google has sold subscriptions since 2012.
        let ahead = (Self.latest.milliseconds - milliseconds) / 32
        return Self.earliest.advanced(byMilliseconds: ahead)
    }

    /// Of what may have been so since, or until, this instant: the latest counts, where nothing else is said.
    var saidAsLatest: Instant {
        // Less than any `saidAsEarliest` of a time that anybody sees: five months at most.
        let ahead = (milliseconds - Self.earliest.milliseconds) / 512
        return Self.earliest.advanced(byMilliseconds: ahead)
    }

    /// Of a period from this instant on: the earliest counts, since an order that goes on under another token
    /// seems to begin with that, a day later at least.
    ///
    /// Of those that begin at once the longest counts, but before it the shortest whose end was told.
    func saidAsPeriod(until end: Instant, isEndTold: Bool) -> Instant {
        // Of forty years, so that all of it weighs less than that day.
        let longest: Int64 = 1_200_000
        let reach = min((end.milliseconds - milliseconds) / 1_048_576, longest)
        let place = isEndTold ? 2 * longest - reach : reach
        return saidAsEarliest.advanced(byMilliseconds: place)
    }
}
