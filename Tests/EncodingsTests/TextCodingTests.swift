import Encodings
import Foundation
import Testing

/// Base64 and hexadecimal: one text for one sequence of bytes.
struct `Bytes as text` {
    private static let samples: [[UInt8]] = (0...100).map { count in
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ 7) &* 197 &+ count &* 31) }
    }

    @Test func `agree in base64 with Foundation, in both forms`() {
        for bytes in Self.samples {
            let text = Base64.encode(bytes.span)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text) == bytes)
            let url = text.replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").filter { $0 != "=" }
            #expect(Base64.encode(bytes.span, .url) == url)
            #expect(Base64.decode(url, .url) == bytes)
            #expect(Base64.digits(of: bytes.span, .url) == Array(url.utf8))
        }
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AA=A", "A===", "====", "AB==", "AAB=", "AA==AAAA", "AA\n=", "AA-_",
        " AAA",
        "AAAA\n", "AAAA====",
    ])
    func `are refused in another spelling of base64`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["A", "AB", "AAB", "AA==", "AAA=", "AA+/", "AAAAA", "AA\n", "A A", "\u{e9}AA"])
    func `are refused in another spelling of base64url`(text: String) {
        #expect(Base64.decode(text, .url) == nil)
    }

    @Test func `are lower case in hexadecimal, and read in either`() {
        for bytes in Self.samples {
            let text = Hexadecimal.encode(bytes)
            #expect(text == bytes.map { String(format: "%02x", $0) }.joined())
            #expect(Hexadecimal.decode(text) == bytes)
            #expect(Hexadecimal.decode(text.uppercased()) == bytes)
        }
    }

    @Test(arguments: ["0", "0g", "0x00", "00 ", "-1", "\u{ff10}\u{ff10}", "a:", "@0", "`0", "/0"])
    func `are refused in other hexadecimal`(text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }
}
