/// The alphabet of RFC 4648 section 5 without padding, strict: one text for one sequence of bytes.
public enum Base64URL {
    /// The text of some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        String(
            decoding: Base64.encode(bytes.span).utf8.lazy
                .filter { $0 != UInt8(ascii: "=") }.map(toURL),
            as: UTF8.self
        )
    }

    /// The bytes of some text; nil for padding, other characters and stray bits.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let other: Set<UInt8> = [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")]
        guard !text.contains(where: other.contains) else { return nil }
        return Base64.decode(
            text.map(fromURL) + repeatElement(UInt8(ascii: "="), count: -text.count & 3)
        )
    }

    private static func toURL(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: digit
        }
    }

    private static func fromURL(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: digit
        }
    }
}
