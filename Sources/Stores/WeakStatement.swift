import Entitlements

extension Instant {
    /// When something is said that nobody told, of what began at this instant: before it began, the later
    /// the later it reaches, so that of two such the longer counts, in whatever order they come.
    ///
    /// Whatever was told of it counts instead (P1), and what ended it stays ended (P4).
    func saidWeakly(until end: Instant) -> Instant {
        // At most twelve years before it; what sells apps has sold subscriptions since 2011.
        let ahead = (Instant.latest.milliseconds - end.milliseconds) / 16
        return max(Instant.earliest, advanced(byMilliseconds: -ahead))
    }
}
