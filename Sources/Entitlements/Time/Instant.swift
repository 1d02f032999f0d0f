package import Encodings

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

extension Instant {
    /// Reads RFC 3339: any offset, lower-case `t` and `z`, 0 to 9 fraction digits cut to
    /// milliseconds.
    ///
    /// Leap seconds, a missing offset and bare dates are refused (nil).
    public init?(rfc3339 text: String) {
        guard let milliseconds = RFC3339.milliseconds(of: text) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// Reads a bare date, `YYYY-MM-DD`, as its midnight in UTC.
    public init?(dateOnly text: String) {
        guard let milliseconds = RFC3339.milliseconds(ofDate: text) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension Instant: CustomStringConvertible {
    /// RFC 3339 in UTC with three fraction digits, such as `2026-01-02T03:04:05.678Z`.
    public var description: String { RFC3339.text(milliseconds: milliseconds) }
}

extension JSONValue {
    /// An instant in RFC 3339, or null.
    package static func instant(_ value: Instant?) -> JSONValue { .optional(value?.description) }
}
