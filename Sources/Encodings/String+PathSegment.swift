extension String {
    /// As one segment of a path (RFC 3986, section 2.3).
    package var pathSegment: String {
        // Nothing but points would be a way up.
        guard utf8.contains(where: { $0 != UInt8(ascii: ".") }) else {
            return String(repeating: "%2E", count: utf8.count)
        }
        var text = ""
        for byte in utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }
        return text
    }
}
