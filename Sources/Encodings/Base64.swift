/// Base64 in its two forms (RFC 4648, sections 4 and 5), in the canonical spelling only.
///
/// Refused: line breaks, other padding than the form's, and bits set in the last digit that no byte
/// holds. One text for one sequence of bytes: what is signed as text cannot be spelt in a second
/// way (sections 3.5 and 12).
@usableFromInline
package enum Base64 {
    /// An alphabet, and whether a text is filled up with `=` to fours.
    package enum Form: Sendable {
        /// `+` and `/`, padded.
        case standard
        /// `-` and `_`, without padding.
        case url
    }

    /// The bytes of a text; nil if it is not the canonical spelling of any.
    ///
    /// Cost: linear in the text.
    package static func decode(_ text: Span<UInt8>, _ form: Form = .standard) -> [UInt8]? {
        let digits = form == .url ? text.count : unpadded(text)
        guard let digits, digits % 4 != 1 else { return nil }
        let values = form == .url ? urlValues : standardValues
        // Every digit's value is or-ed in: an invalid one sets a bit above the six.
        var seen: UInt8 = 0
        var stray: UInt32 = 0
        let bytes = [UInt8](capacity: digits / 4 * 3 + 2) { output in
            var position = 0
            while position + 4 <= digits {
                let (a, b) = (values[Int(text[position])], values[Int(text[position + 1])])
                let (c, d) = (values[Int(text[position + 2])], values[Int(text[position + 3])])
                seen |= a | b | c | d
                let group = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
                output.append(UInt8(truncatingIfNeeded: group >> 16))
                output.append(UInt8(truncatingIfNeeded: group >> 8))
                output.append(UInt8(truncatingIfNeeded: group))
                position += 4
            }
            guard position < digits else { return }
            var group: UInt32 = 0
            for index in position..<digits {
                let value = values[Int(text[index])]
                seen |= value
                group = group << 6 | UInt32(value)
            }
            if digits - position == 2 {
                stray = group & 0xF
                output.append(UInt8(truncatingIfNeeded: group >> 4))
            } else {
                stray = group & 0x3
                output.append(UInt8(truncatingIfNeeded: group >> 10))
                output.append(UInt8(truncatingIfNeeded: group >> 2))
            }
        }
        return seen & invalid == 0 && stray == 0 ? bytes : nil
    }

    /// The bytes of a part of a text; nil if it is not the canonical spelling of any.
    package static func decode(_ text: ArraySlice<UInt8>, _ form: Form = .standard) -> [UInt8]? {
        decode(text.span, form)
    }

    /// The bytes of a text; nil if it is not the canonical spelling of any.
    package static func decode(_ text: String, _ form: Form = .standard) -> [UInt8]? {
        decode(Array(text.utf8).span, form)
    }

    /// The canonical text of some bytes.
    package static func encode(_ bytes: Span<UInt8>, _ form: Form = .standard) -> String {
        String(decoding: digits(of: bytes, form), as: UTF8.self)
    }

    /// The canonical text of some bytes, as bytes of ASCII.
    ///
    /// Cost: linear in the bytes.
    package static func digits(of bytes: Span<UInt8>, _ form: Form = .standard) -> [UInt8] {
        let digits = form == .url ? urlDigits : standardDigits
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var (group, bits): (UInt32, Int) = (0, 0)
        for place in bytes.indices {
            group = group << 8 | UInt32(bytes[place])
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[Int(group >> UInt32(bits) & 0x3F)])
            }
            group &= 0xFFFF
        }
        if bits > 0 { text.append(digits[Int(group << UInt32(6 - bits) & 0x3F)]) }
        if form == .standard { while text.count % 4 != 0 { text.append(padding) } }
        return text
    }

    /// Whether a byte is a digit of the base64url form.
    @inlinable
    package static func isURLDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static let padding = UInt8(ascii: "=")
    private static let invalid: UInt8 = 0xC0

    /// How many digits come before the padding; nil if that is not of the right length.
    private static func unpadded(_ text: Span<UInt8>) -> Int? {
        guard text.count % 4 == 0 else { return nil }
        var digits = text.count
        while digits > 0, text.count - digits < 2, text[digits - 1] == padding { digits -= 1 }
        return digits
    }

    private static let common = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8
    )
    private static let urlDigits = common + Array("-_".utf8)
    private static let standardDigits = common + Array("+/".utf8)
    private static let urlValues = values(of: urlDigits)
    private static let standardValues = values(of: standardDigits)

    private static func values(of digits: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }
}
