/// Hexadecimal text: two digits a byte, written in lower case, read in either (RFC 4648, section 8).
@usableFromInline
package enum Hexadecimal {
    /// The text of some bytes, of a hash say.
    ///
    /// Cost: linear in the bytes.
    @inlinable
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digit(of: byte >> 4))
            text.append(digit(of: byte & 0xF))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of some text, or nil where it is not pairs of hexadecimal digits.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8 {
            guard let value = value(of: digit) else { return nil }
            if let upper = high {
                bytes.append(upper << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    /// What a digit of ASCII stands for, 0 to 15; nil for other bytes.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The digit of a value below 16.
    @usableFromInline
    static func digit(of value: UInt8) -> UInt8 {
        // Fits: a value below 16.
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
