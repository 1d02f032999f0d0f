/// Instants as text (RFC 3339): any offset is read, UTC with three fraction digits is written.
package enum RFC3339 {
    /// Milliseconds since 1970-01-01T00:00:00Z of a text: any offset, lower-case `t` and `z`, 0 to
    /// 9 fraction digits cut to milliseconds.
    ///
    /// Leap seconds, a missing offset, bare dates, and what an offset moves out of the years 0 to 9999 are
    /// refused (nil).
    package static func milliseconds(of text: String) -> Int64? {
        milliseconds(of: text.utf8Span.span)
    }

    /// The same of a text's bytes.
    static func milliseconds(of text: Span<UInt8>) -> Int64? {
        var scanner = DigitScanner()
        guard let date = scanner.date(text), scanner.take("T", text) || scanner.take("t", text),
            let hour = scanner.digits(2, text), hour < 24, scanner.take(":", text),
            let minute = scanner.digits(2, text), minute < 60, scanner.take(":", text),
            let second = scanner.digits(2, text), second < 60,
            let fraction = scanner.fractionMilliseconds(text),
            let offset = scanner.offsetMinutes(text), scanner.position == text.count
        else { return nil }
        let minutes = (date.daysSinceEpoch * 24 + hour) * 60 + minute - offset
        let milliseconds = (minutes * 60 + second) * 1000 + fraction
        return written.contains(milliseconds) ? milliseconds : nil
    }

    /// What has four digits for its year in UTC, too, so that it is read again as it is written.
    private static let written: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Milliseconds of the midnight, in UTC, of a bare date `YYYY-MM-DD`; nil for other text.
    package static func milliseconds(ofDate text: String) -> Int64? {
        var scanner = DigitScanner()
        let bytes = text.utf8Span.span
        guard let date = scanner.date(bytes), scanner.position == bytes.count else { return nil }
        return date.daysSinceEpoch * millisecondsPerDay
    }

    /// The text of an instant in UTC with three fraction digits, such as
    /// `2026-01-02T03:04:05.678Z`.
    package static func text(milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        append(milliseconds: milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the text of an instant, as `text(milliseconds:)` gives it.
    package static func append(milliseconds: Int64, to bytes: inout [UInt8]) {
        let (days, rest) = floorDivide(milliseconds, by: millisecondsPerDay)
        let date = CivilDate(daysSinceEpoch: days)
        let seconds = rest / 1000
        bytes.append(decimal: date.year, width: 4)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(decimal: date.month, width: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(decimal: date.day, width: 2)
        bytes.append(UInt8(ascii: "T"))
        bytes.append(decimal: seconds / 3600, width: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(decimal: seconds / 60 % 60, width: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(decimal: seconds % 60, width: 2)
        bytes.append(UInt8(ascii: "."))
        bytes.append(decimal: rest % 1000, width: 3)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static let millisecondsPerDay: Int64 = 86_400_000
}

extension [UInt8] {
    fileprivate mutating func append(decimal number: Int64, width: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        var unit: UInt64 = 1
        // Fits: it has no more digits than the width, or than the number.
        for _ in 1..<width { unit *= 10 }
        while magnitude / unit > 9 { unit *= 10 }
        while unit > 0 {
            append(UInt8(ascii: "0") + UInt8(magnitude / unit % 10))
            unit /= 10
        }
    }
}

/// Reads fixed-width decimal fields from ASCII bytes, which are handed to each call.
private struct DigitScanner {
    private(set) var position = 0

    mutating func take(_ character: Unicode.Scalar, _ bytes: Span<UInt8>) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else {
            return false
        }
        position += 1
        return true
    }

    mutating func digits(_ count: Int, _ bytes: Span<UInt8>) -> Int64? {
        guard bytes.count - position >= count else { return nil }
        var value: Int64 = 0
        for index in position..<position + count {
            let byte = bytes[index]
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        position += count
        return value
    }

    mutating func date(_ bytes: Span<UInt8>) -> CivilDate? {
        guard let year = digits(4, bytes), take("-", bytes), let month = digits(2, bytes),
            take("-", bytes), let day = digits(2, bytes)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        return date.isValid ? date : nil
    }

    /// 0 to 9 digits after a point; nil if a point has none or more than nine follow.
    mutating func fractionMilliseconds(_ bytes: Span<UInt8>) -> Int64? {
        guard take(".", bytes) else { return 0 }
        var (value, count): (Int64, Int) = (0, 0)
        while let digit = digits(1, bytes) {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard (1...9).contains(count) else { return nil }
        for _ in min(count, 3)..<3 { value *= 10 }
        return value
    }

    mutating func offsetMinutes(_ bytes: Span<UInt8>) -> Int64? {
        if take("Z", bytes) || take("z", bytes) { return 0 }
        let sign: Int64
        if take("+", bytes) { sign = 1 } else if take("-", bytes) { sign = -1 } else { return nil }
        guard let hours = digits(2, bytes), hours < 24, take(":", bytes),
            let minutes = digits(2, bytes), minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}
