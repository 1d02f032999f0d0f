/// A point in time: signed milliseconds since 1970-01-01T00:00:00Z (Model, "Time").
///
/// Text form is RFC 3339 in UTC with exactly three fraction digits.
public struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since the epoch; may be negative.
    public var milliseconds: Int64

    /// Makes an instant from milliseconds since the epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The first instant that an event may name: 2000-01-01T00:00:00Z.
    public static let earliest = Instant(milliseconds: 946_684_800_000)
    /// The first instant that is too late for an event: 2200-01-01T00:00:00Z.
    public static let latest = Instant(milliseconds: 7_258_118_400_000)
    /// A day is 86 400 000 ms, whatever the calendar says (C4).
    public static let millisecondsPerDay: Int64 = 86_400_000

    /// Whether an event may name this instant (2000 to 2200, Model, "Events").
    public var isPlausible: Bool { self >= Self.earliest && self < Self.latest }

    /// Orders by time.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// This instant moved by some milliseconds, held at the ends of the range.
    public func advanced(byMilliseconds offset: Int64) -> Instant {
        let (sum, overflow) = milliseconds.addingReportingOverflow(offset)
        guard overflow else { return Instant(milliseconds: sum) }
        return Instant(milliseconds: offset > 0 ? .max : .min)
    }
}

extension Instant: CustomStringConvertible {
    /// RFC 3339 in UTC with three fraction digits, such as `2026-01-02T03:04:05.678Z`.
    public var description: String {
        let (days, rest) = floorDivide(milliseconds, by: Self.millisecondsPerDay)
        let date = CivilDate(daysSinceEpoch: days)
        let seconds = rest / 1000
        var text = ""
        text.reserveCapacity(24)
        text.append(decimal: date.year, width: 4)
        text.append("-")
        text.append(decimal: date.month, width: 2)
        text.append("-")
        text.append(decimal: date.day, width: 2)
        text.append("T")
        text.append(decimal: seconds / 3600, width: 2)
        text.append(":")
        text.append(decimal: seconds / 60 % 60, width: 2)
        text.append(":")
        text.append(decimal: seconds % 60, width: 2)
        text.append(".")
        text.append(decimal: rest % 1000, width: 3)
        text.append("Z")
        return text
    }
}

extension String {
    fileprivate mutating func append(decimal number: Int64, width: Int) {
        let digits = String(number.magnitude)
        if number < 0 { append("-") }
        append(String(repeating: "0", count: max(0, width - digits.utf8.count)))
        append(digits)
    }
}

/// Quotient rounded towards minus infinity, and the non-negative rest.
func floorDivide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
}
