/// Instants as text (RFC 3339): any offset is read, UTC with three fraction digits is written.
package enum RFC3339 {
    /// Milliseconds since 1970-01-01T00:00:00Z of a text: any offset, lower-case `t` and `z`, 0 to
    /// 9 fraction digits cut to milliseconds.
    ///
    /// Leap seconds, a missing offset and bare dates are refused (nil).
    package static func milliseconds(of text: String) -> Int64? {
        var scanner = DigitScanner(Array(text.utf8))
        guard let date = scanner.date(), scanner.take("T") || scanner.take("t"),
            let hour = scanner.digits(2), hour < 24, scanner.take(":"),
            let minute = scanner.digits(2), minute < 60, scanner.take(":"),
            let second = scanner.digits(2), second < 60,
            let fraction = scanner.fractionMilliseconds(),
            let offset = scanner.offsetMinutes(), scanner.isAtEnd
        else { return nil }
        let minutes = (date.daysSinceEpoch * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1000 + fraction
    }

    /// Milliseconds of the midnight, in UTC, of a bare date `YYYY-MM-DD`; nil for other text.
    package static func milliseconds(ofDate text: String) -> Int64? {
        var scanner = DigitScanner(Array(text.utf8))
        guard let date = scanner.date(), scanner.isAtEnd else { return nil }
        return date.daysSinceEpoch * millisecondsPerDay
    }

    /// The text of an instant in UTC with three fraction digits, such as
    /// `2026-01-02T03:04:05.678Z`.
    package static func text(milliseconds: Int64) -> String {
        let (days, rest) = floorDivide(milliseconds, by: millisecondsPerDay)
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

    private static let millisecondsPerDay: Int64 = 86_400_000
}

extension String {
    fileprivate mutating func append(decimal number: Int64, width: Int) {
        let digits = String(number.magnitude)
        if number < 0 { append("-") }
        append(String(repeating: "0", count: max(0, width - digits.utf8.count)))
        append(digits)
    }
}

/// Reads fixed-width decimal fields from ASCII bytes.
private struct DigitScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else {
            return false
        }
        position += 1
        return true
    }

    mutating func digits(_ count: Int) -> Int64? {
        guard bytes.count - position >= count else { return nil }
        var value: Int64 = 0
        for byte in bytes[position..<position + count] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        position += count
        return value
    }

    mutating func date() -> CivilDate? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"),
            let day = digits(2)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        return date.isValid ? date : nil
    }

    /// 0 to 9 digits after a point; nil if a point has none or more than nine follow.
    mutating func fractionMilliseconds() -> Int64? {
        guard take(".") else { return 0 }
        var (value, count): (Int64, Int) = (0, 0)
        while let digit = digits(1) {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard (1...9).contains(count) else { return nil }
        for _ in min(count, 3)..<3 { value *= 10 }
        return value
    }

    mutating func offsetMinutes() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = digits(2), hours < 24, take(":"), let minutes = digits(2), minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}
