import Encodings
import Testing

/// Instants as text: RFC 3339 read with any offset, written in UTC.
struct `RFC 3339` {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:00.5z", 500),
            ("2000-02-29T23:59:59.999999999Z", 951_868_799_999),
            ("2026-01-01T01:00:00+01:00", 1_767_225_600_000),
            ("2025-12-31T19:30:00-04:30", 1_767_225_600_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ] as [(String, Int64)]
    )
    func `is read`(text: String, milliseconds: Int64) {
        #expect(RFC3339.milliseconds(of: text) == milliseconds)
        let written = RFC3339.text(milliseconds: milliseconds)
        #expect(written.utf8.count == 24 && RFC3339.milliseconds(of: written) == milliseconds)
    }

    @Test(arguments: [
        "", "2026-01-01", "2026-01-01T00:00:00", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00+24:00", "2026-1-1T00:00:00Z",
        "2026-01-01T00:00:00Z ", "\u{ff12}026-01-01T00:00:00Z",
        // In UTC their years have not four digits.
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59.999-00:01",
    ])
    func `is refused where it is not whole`(text: String) {
        #expect(RFC3339.milliseconds(of: text) == nil)
    }

    @Test func `knows a bare date as its midnight`() {
        #expect(RFC3339.milliseconds(ofDate: "1970-01-02") == 86_400_000)
        #expect(RFC3339.milliseconds(ofDate: "1970-01-02T00:00:00Z") == nil)
        #expect(RFC3339.milliseconds(ofDate: "1970-02-30") == nil)
    }
}
