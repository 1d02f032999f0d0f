/// Standard base64 with padding (RFC 4648 section 4), strict: one text for one sequence of bytes.
///
/// Refused: line breaks, missing padding, and bits set in the last digit that no byte holds. A
/// lenient decoder would let one signature be written in several ways.
public enum Base64 {
    /// The text of some bytes: four characters for each three bytes begun.
    public static func encode(_ bytes: Span<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var start = 0
        while start < bytes.count {
            let held = min(3, bytes.count - start)
            var group: UInt32 = 0
            for place in 0..<held { group |= UInt32(bytes[start + place]) << (16 - 8 * place) }
            for digit in 0..<4 {
                let value = Int(group >> (18 - 6 * digit) & 0x3F)
                text.append(digit <= held ? alphabet[value] : padding)
            }
            start += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of some text, or nil where it is not strict base64.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = Array(text)
        guard digits.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var start = 0
        while start < digits.count {
            let isLast = start + 4 == digits.count
            guard decode(digits[start..<start + 4], isLast: isLast, into: &bytes) else {
                return nil
            }
            start += 4
        }
        return bytes
    }

    /// The bytes of some text, or nil where it is not strict base64.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }

    private static func decode(
        _ digits: ArraySlice<UInt8>,
        isLast: Bool,
        into bytes: inout [UInt8]
    ) -> Bool {
        let padded = isLast ? digits.reversed().prefix(while: { $0 == padding }).count : 0
        guard padded <= 2 else { return false }
        var group: UInt32 = 0
        for digit in digits.dropLast(padded) {
            guard let value = value(of: digit) else { return false }
            group = group << 6 | value
        }
        group <<= 6 * UInt32(padded)
        let held = 3 - padded
        for place in 0..<held {
            bytes.append(UInt8(truncatingIfNeeded: group >> (16 - 8 * UInt32(place))))
        }
        return group & (1 << (8 * UInt32(padded)) - 1) == 0
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static let padding = UInt8(ascii: "=")
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )
}
