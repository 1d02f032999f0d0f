extension Instant {
    /// Reads RFC 3339: any offset, lower-case `t` and `z`, 0 to 9 fraction digits cut to
    /// milliseconds.
    ///
    /// Leap seconds, a missing offset and bare dates are refused (nil).
    public init?(rfc3339 text: String) {
        var scanner = DigitScanner(Array(text.utf8))
        guard let date = scanner.date(), scanner.take("T") || scanner.take("t"),
            let hour = scanner.digits(2), hour < 24, scanner.take(":"),
            let minute = scanner.digits(2), minute < 60, scanner.take(":"),
            let second = scanner.digits(2), second < 60,
            let fraction = scanner.fractionMilliseconds(),
            let offset = scanner.offsetMinutes(), scanner.isAtEnd
        else { return nil }
        let minutes = (date.daysSinceEpoch * 24 + hour) * 60 + minute - offset
        self.init(milliseconds: (minutes * 60 + second) * 1000 + fraction)
    }

    /// Reads a bare date, `YYYY-MM-DD`, as its midnight in UTC.
    public init?(dateOnly text: String) {
        var scanner = DigitScanner(Array(text.utf8))
        guard let date = scanner.date(), scanner.isAtEnd else { return nil }
        self.init(milliseconds: date.daysSinceEpoch * Self.millisecondsPerDay)
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
