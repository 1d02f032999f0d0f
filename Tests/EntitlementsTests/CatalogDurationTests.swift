import Encodings
import Testing

@testable import Entitlements

struct `A product's duration` {
    // K10
    @Test(
        arguments: ["P1D", "P36500D", "P5200W", "P1200M", "P100Y", "P9W", "P10Y"].map { ($0, true) }
            + [
                "", "P", "D", "P0D", "P01D", "P36501D", "P5201W", "P1201M", "P101Y", "PD", "P1",
                "1D",
                "p1D", "P1d", "P1.5D", "P-1D", "P1D ", "PT1H", "P1Y2M", "P99999999999999999999D",
                "P١D",
            ].map { ($0, false) }
    )
    func `is one unit and a count in its range`(_ text: String, _ isOne: Bool) throws {
        #expect((CatalogDuration(text) != nil) == isOne)
        let pattern = try Regex(CatalogDuration.pattern)
        #expect((try pattern.wholeMatch(in: text) != nil) == isOne, "the schema says the same")
    }

    // P2
    @Test(arguments: [
        ("P30D", "2026-01-31T10:20:30.456Z", "2026-03-02T10:20:30.456Z"),
        ("P2W", "2024-02-20T00:00:00.000Z", "2024-03-05T00:00:00.000Z"),
        ("P1M", "2026-01-31T23:59:59.999Z", "2026-02-28T23:59:59.999Z"),
        ("P1M", "2024-01-31T23:59:59.999Z", "2024-02-29T23:59:59.999Z"),
        ("P13M", "2026-12-31T00:00:00.000Z", "2028-01-31T00:00:00.000Z"),
        ("P6M", "2026-08-31T12:00:00.000Z", "2027-02-28T12:00:00.000Z"),
        ("P1Y", "2024-02-29T06:00:00.000Z", "2025-02-28T06:00:00.000Z"),
        ("P100Y", "2199-12-31T00:00:00.000Z", "2299-12-31T00:00:00.000Z"),
    ])
    func `ends in the calendar of UTC`(_ text: String, _ start: String, _ end: String) throws {
        let duration = try #require(CatalogDuration(text))
        let from = try #require(Instant(rfc3339: start))
        #expect(duration.end(from: from).description == end)
    }

    /// A document of before durations were read may say anything there.
    @Test(arguments: ["30", #""30 days""#, #"{"days":30}"#, #""P30D""#])
    func `in what is recorded is no fault`(_ value: String) throws {
        let head = #"{"tiers":["free"],"features":[],"products":[{"id":"m","kind":"auto_renewable""#
        let text = head + #","duration":\#(value)}]}"#
        let document = try JSONValue(parsing: Array(text.utf8))
        #expect(throws: InputFault.self) { try Catalog(document: document) }
        #expect(try Catalog(recorded: document).products.first?.duration == nil)
    }
}
