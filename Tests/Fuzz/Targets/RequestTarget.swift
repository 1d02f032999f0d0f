import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// A request's path, query and headers, one a line, as far as they are read before the ledger is
/// asked.
struct RequestTarget: MutatingFuzzTarget {
    private static let texts = [
        "/tile/0/x001/234.p/5\nat=2026-01-01&known=now\nen;q=0.5,zh-Hant",
        "/tile/entries/x999/x999/x999/x999/x999/999\nknownSequence=7\n18446744073709551615",
        "/tile/7/000\nat=2026-01-01T00%3A00%3A00%2B05%3A30&locale=zh-Hant-TW\nja,en;q=0",
        "/v1/customers/%C3%A9\nfeature=export&environment=sandbox&toAt=now\n*",
    ]
    private static let names = [
        "at", "known", "knownSequence", "environment", "locale", "feature", "toAt",
    ]
    let mutation = LineMutation(texts)

    func seeds() -> [[UInt8]] { Self.texts.map { Array($0.utf8) } }

    func run(_ input: [UInt8]) {
        let lines = String(decoding: input, as: UTF8.self)
            .split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        readPath(lines[0])
        if lines.count > 1 { readQuery(String(lines[1])) }
        if lines.count > 2 { readHeader(String(lines[2])) }
    }

    private func readPath(_ path: Substring) {
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        if let decoded = PercentCoding.decode(path.utf8) {
            demand(decoded.utf8.count <= path.utf8.count, "decoding makes nothing longer")
        }
        guard parts.count == 3, let place = PercentCoding.decode(parts[2].utf8) else { return }
        let level = Int(parts[1]) ?? 0
        guard let tile = TileCoordinate(level: level, place: place) else { return }
        demand(
            tile.path == "tile/\(level)/\(place)",
            "a place is written in one way"
        )
        for size in [0, 1, 256, UInt64.max] {
            let width = TileCoordinate.width(level: tile.level, index: tile.index, size: size)
            demand((0...TileCoordinate.fullWidth).contains(width), "a tile has a width")
        }
        PlantedFault.strike(tile.index > 999_999 && tile.level > 0)
    }

    private func readQuery(_ text: String) {
        guard let query = try? Query(text, known: Self.names),
            let point = try? query.point(
                at: "at",
                "known",
                "knownSequence",
                now: FuzzedLedger.now
            )
        else { return }
        demand(
            Instant(rfc3339: point.at.description) == point.at,
            "an instant of a query is one that is written"
        )
        if let tag = query["locale"].flatMap({ LanguageTag($0) }) {
            _ = ProductText(of: .members(["texts": .members(["en": .null])]), for: tag)
        }
    }

    private func readHeader(_ text: String) {
        _ = Language(acceptLanguage: text)
        if let root = RootPrefix(text) {
            demand(root.text == text, "of which history a size is has one text")
        }
    }
}
