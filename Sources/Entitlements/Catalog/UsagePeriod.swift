import Encodings

/// The length of the calendar window of a limit (C5).
public enum UsagePeriod: String, Sendable, CaseIterable {
    /// From midnight.
    case day
    /// From Monday's midnight.
    case week
    /// From the first day's midnight.
    case month

    /// The window of the zone's calendar that contains an instant.
    ///
    /// A day starts at the earliest instant whose local time is at or after its midnight. Beyond the years that can
    /// be written the last window is that of their end.
    package func window(containing instant: Instant, in zone: ResolvedZone) -> Interval {
        let years = Instant.writable
        let instant = Instant(
            milliseconds: min(max(instant.milliseconds, years.lowerBound), years.upperBound)
        )
        let (today, _) = floorDivide(zone.local(instant), by: Instant.millisecondsPerDay)
        var first = firstDay(ofWindowWith: today)
        // Where clocks go back over a midnight, the new window has begun already; over two, where
        // they go back by more than a day.
        while Self.start(ofDay: next(first), in: zone) <= instant { first = next(first) }
        return Interval(
            start: Self.start(ofDay: first, in: zone),
            end: Self.start(ofDay: next(first), in: zone)
        )
    }

    private static func start(ofDay day: Int64, in zone: ResolvedZone) -> Instant {
        zone.firstInstant(atOrAfterLocal: day * Instant.millisecondsPerDay)
    }

    private func firstDay(ofWindowWith day: Int64) -> Int64 {
        switch self {
        case .day: return day
        // 1970-01-01 was a Thursday, three days after a Monday.
        case .week: return day - floorDivide(day + 3, by: 7).rest
        case .month:
            var date = CivilDate(daysSinceEpoch: day)
            date.day = 1
            return date.daysSinceEpoch
        }
    }

    private func next(_ firstDay: Int64) -> Int64 {
        switch self {
        case .day: return firstDay + 1
        case .week: return firstDay + 7
        case .month:
            let date = CivilDate(daysSinceEpoch: firstDay)
            let isDecember = date.month == 12
            return CivilDate(
                year: isDecember ? date.year + 1 : date.year,
                month: isDecember ? 1 : date.month + 1,
                day: 1
            ).daysSinceEpoch
        }
    }
}
