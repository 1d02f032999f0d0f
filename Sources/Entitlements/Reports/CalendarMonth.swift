/// A month of the calendar in UTC.
public struct CalendarMonth: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Months since January of the year 0.
    private var number: Int64

    /// The month that an instant lies in.
    public init(_ instant: Instant) {
        let days = floorDivide(instant.milliseconds, by: Instant.millisecondsPerDay).quotient
        let date = CivilDate(daysSinceEpoch: days)
        number = date.year * 12 + date.month - 1
    }

    /// Orders by time.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// `YYYY-MM`.
    public var description: String {
        let (year, month) = floorDivide(number, by: 12)
        let digits = String(year)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
            + (month < 9 ? "-0" : "-") + String(month + 1)
    }
}
