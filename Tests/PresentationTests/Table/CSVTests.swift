import Encodings
import Presentation
import Testing

/// Comma-separated values as spreadsheets open them.
struct `A line of comma-separated values` {
    // OWASP, CSV injection; RFC 4180
    @Test(arguments: ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\u{FF1D}1"])
    func `marks whatever begins like a formula`(_ text: String) {
        let line = CSV.line([.string(text), .integer(-1), .string("a,\"b\"\r\n"), .null])
        #expect(line.contains("'" + text))
        #expect(line.hasSuffix(",-1,\"a,\"\"b\"\"\r\n\",\r\n"))
    }
}
