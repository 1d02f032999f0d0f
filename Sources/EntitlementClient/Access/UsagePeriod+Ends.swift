import Encodings
import Entitlements

extension UsagePeriod {
    /// The first end of a window after an instant, by the end of an earlier one (C5).
    ///
    /// The server's zone is not known here: an hour that its clocks jump meanwhile is not seen. nil: it cannot
    /// be said.
    func end(behind end: Instant, after instant: Instant) -> Instant? {
        guard end.isPlausible, instant.isPlausible else { return nil }
        switch self {
        case .day: return Self.end(behind: end, after: instant, days: 1)
        case .week: return Self.end(behind: end, after: instant, days: 7)
        case .month: return Self.monthEnd(behind: end, after: instant)
        }
    }

    private static func end(behind end: Instant, after instant: Instant, days: Int64) -> Instant {
        let length = days * Instant.millisecondsPerDay
        // Fits: both are plausible.
        let passed = (instant.milliseconds - end.milliseconds) / length + 1
        return end.advanced(byMilliseconds: passed * length)
    }

    /// The end is the midnight of a month's first day in the server's zone, which in UTC may be the day before.
    private static func monthEnd(behind end: Instant, after instant: Instant) -> Instant? {
        let dayLength = Instant.millisecondsPerDay
        // Fits: it is plausible.
        let (day, _) = floorDivide(end.milliseconds + dayLength / 2, by: dayLength)
        let offset = end.milliseconds - day * dayLength
        var date = CivilDate(daysSinceEpoch: day)
        guard date.day == 1 else { return nil }
        var next = end
        while next <= instant {
            let isDecember = date.month == 12
            date = CivilDate(
                year: isDecember ? date.year + 1 : date.year,
                month: isDecember ? 1 : date.month + 1,
                day: 1
            )
            next = Instant(milliseconds: date.daysSinceEpoch * dayLength + offset)
        }
        return next
    }
}
