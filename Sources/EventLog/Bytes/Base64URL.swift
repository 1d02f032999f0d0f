import FoundationEssentials

/// The alphabet of RFC 4648 section 5 without padding, strict: one text for one sequence of bytes.
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        String(
            decoding: Data(bytes).base64EncodedData().lazy
                .filter { $0 != UInt8(ascii: "=") }.map(toURL),
            as: UTF8.self
        )
    }

    /// The bytes of some text; nil for padding, other characters and stray bits.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var standard = Data(text.map(fromURL))
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: -text.count & 3))
        guard let data = Data(base64Encoded: standard) else { return nil }
        let bytes = [UInt8](data)
        return encode(bytes).utf8.elementsEqual(text) ? bytes : nil
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
