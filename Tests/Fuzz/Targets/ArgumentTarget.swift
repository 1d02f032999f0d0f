import EntitlementLedger
import Entitlements
import EventLog

/// A word that somebody gives the command, or a file that it is pointed to, in every way in which
/// one is read.
struct ArgumentTarget: MutatingFuzzTarget {
    private static let texts = [
        "-36h", "+30d", "now", "2026-01-05", "2026-03-01T12:00:00.123456789+05:30", "5000,load:250",
        "app_store/2000000123", "customer/ann", "purchase/app_store/1", "zh-Hant-TW",
        "purchase.renewed", "production",
        "ledger.example/log\n7\n" + String(repeating: "A", count: 44),
        "c2sp.org/tlog-proof@v1\nindex 7\n\nledger.example/log\n8\n",
        "AQEBAAEAAAAAAAAAAAAHAAAAAAAAAA",
    ]
    let mutation = LineMutation(texts)

    func seeds() -> [[UInt8]] { Self.texts.map { Array($0.utf8) } }

    func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        for now in [FuzzedLedger.now, Instant(milliseconds: .min), Instant(milliseconds: .max)] {
            guard let instant = Instant(argument: text, now: now), text != "now" else { continue }
            demand(Instant(rfc3339: instant.description) == instant, "an instant can be written")
        }
        if let thresholds = StageReport.Thresholds(text) {
            demand(thresholds.usual >= 0, "a threshold is a time")
            PlantedFault.strike(thresholds.usual == 0 && thresholds.named.count > 1)
        }
        if let name = PurchaseName(text) {
            demand(name.description == text, "a purchase is written in one way")
        }
        if let subject = Subject(text) {
            demand(subject.description == text, "a subject is written in one way")
        }
        if let token = DecisionToken(text) {
            demand(token.text == text, "a token is written in one way")
        }
        if let checkpoint = try? Checkpoint(parsing: text) {
            _ = TileCoordinate.partialTiles(size: checkpoint.size)
        }
        _ = try? InclusionProofFile(parsing: text)
        _ = try? ConsistencyProofFile(parsing: text)
        _ = try? VerifierKey(parsing: text)
        _ = NearNames.near(text, among: Self.texts)
    }
}
