import Encodings
import Entitlements
import Testing

/// What a parameter or a document may cost who reads it.
struct `A parameter at its limit` {
    private static let texts = try? JSONValue(
        parsing: Array(
            (#"{"texts":{"# + (0..<200).map { #""de-\#($0)":{}"# }.joined(separator: ",") + "}}")
                .utf8
        )
    )
    private static let names = (0..<50).map { "feature-\($0)" }

    private static let rows = [
        Cost(name: "locale", limit: LanguageTag.byteLimit) { size in
            let tag = LanguageTag(String(String(repeating: "a-", count: size).prefix(size - 1)))
            return { for _ in 0..<20 { _ = texts.flatMap { ProductText(of: $0, for: tag) } } }
        },
        Cost(name: "a name that is unknown", limit: 1024) { size in
            let name = String(repeating: "\u{301}", count: size / 2)
            return { _ = NearNames.near(name, among: names) }
        },
        Cost(name: "thresholds", limit: 4096) { size in
            let text = (0..<size / 41).map { "stage-\($0):\($0)" }.joined(separator: ",")
            return { for _ in 0..<20 { _ = StageReport.Thresholds(text) } }
        },
        Cost(name: "an instant", limit: 4096) { size in
            let text = "2026-01-01T00:00:00." + String(repeating: "1", count: size) + "Z"
            return { for _ in 0..<20 { _ = Instant(argument: text, now: Instant.earliest) } }
        },
        Cost(name: "members of a document", limit: 20_000) { size in
            let members = (0..<size).map { "\"m\($0)\":1" }.joined(separator: ",")
            let bytes = Array(("{" + members + "}").utf8)
            return { _ = try? JSONValue(parsing: bytes) }
        },
        Cost(name: "escapes in a text", limit: 200_000) { size in
            let text = String(repeating: #"\u00e9\ud83d\ude00"#, count: size / 18)
            let bytes = Array(("\"" + text + "\"").utf8)
            return { _ = try? JSONValue(parsing: bytes) }
        },
        Cost(name: "marks in names of members", limit: 40_000) { size in
            let marks = String(repeating: "\u{301}\u{327}", count: size / 80)
            let members = (0..<20).map { "\"\(marks)\($0)\":1" }.joined(separator: ",")
            let bytes = Array(("{" + members + "}").utf8)
            return { _ = try? JSONValue(parsing: bytes) }
        },
        Cost(name: "depth", limit: 64) { size in
            let bytes = Array(
                (String(repeating: "[", count: size) + String(repeating: "]", count: size)).utf8
            )
            return { for _ in 0..<100 { _ = try? JSONValue(parsing: bytes) } }
        },
        Cost(name: "a digit of a number", limit: 100_000) { size in
            let bytes = Array(String(repeating: "9", count: size).utf8)
            return { _ = try? JSONValue(parsing: bytes).integer }
        },
    ]

    @Test(arguments: rows.indices)
    private func `costs no more for each byte than a short one`(row: Int) {
        #expect(Self.rows[row].isLinear, "\(Self.rows[row].name)")
    }

    // The control: what 7 000 parts of a language tag cost once.
    @Test func `is found to cost out of proportion`() {
        let joining = Cost(name: "tags", limit: 1600) { size in
            let parts = Array(repeating: "a", count: size)
            return { for count in parts.indices { _ = parts[...count].joined(separator: "-") } }
        }
        #expect(!joining.isLinear)
        let comparing = Cost(name: "tiers", limit: 1600) { size in
            let names = (0..<size).map(String.init)
            return { for name in names { _ = names.firstIndex(of: name) } }
        }
        #expect(!comparing.isLinear)
    }
}
