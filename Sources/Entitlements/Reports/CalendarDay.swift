import Encodings

/// A day of the calendar in UTC.
package struct CalendarDay: Sendable, Hashable, Comparable {
    /// Days since 1970-01-01.
    package let number: Int64

    /// The day that an instant lies in.
    package init(_ instant: Instant) {
        number = floorDivide(instant.milliseconds, by: Instant.millisecondsPerDay).quotient
    }

    /// The day that lies so many days after 1970-01-01.
    package init(number: Int64) { self.number = number }

    /// Orders by time.
    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// The first day of its month.
    package var firstOfMonth: CalendarDay {
        var date = CivilDate(daysSinceEpoch: number)
        date.day = 1
        return CalendarDay(number: date.daysSinceEpoch)
    }

    /// Its month, `YYYY-MM`.
    package var month: String {
        let date = CivilDate(daysSinceEpoch: number)
        let year = String(date.year)
        return String(repeating: "0", count: max(0, 4 - year.utf8.count)) + year
            + (date.month < 10 ? "-0" : "-") + String(date.month)
    }

    /// Whether the day lies in a range, if that ends with days.
    func isIn(_ range: Interval) -> Bool {
        let (first, overflow) = number.multipliedReportingOverflow(by: Instant.millisecondsPerDay)
        return !overflow && range.contains(Instant(milliseconds: first))
    }
}

extension Interval {
    /// Whether it begins and ends with days of UTC, or not at all.
    package var isOfWholeDays: Bool {
        func isWhole(_ instant: Instant) -> Bool {
            floorDivide(instant.milliseconds, by: Instant.millisecondsPerDay).rest == 0
        }
        return (start == Instant(milliseconds: .min) || isWhole(start))
            && (end.map(isWhole) ?? true)
    }
}
