import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import Presentation

/// What a customer's own pages say of an end: none that is past (P9, rows 5.2, 7.1).
struct `What is said of an end` {
    private static let text = SoldText(
        language: .english,
        zone: .utc,
        name: { id, _ in id },
        amount: { micros, _ in "\(micros)" }
    )

    private static func state(_ status: String) throws -> StateContent {
        let json = """
            {"tier":"pro","validUntil":null,"features":{},"grants":[],"trials":[],"warnings":[],
             "purchases":[{"purchase":"play_store/1","productId":"pro","productKind":"auto_renewable",
             "status":"\(status)","expiresAt":"2025-11-04T00:00:00.000Z","isVerified":true,
             "isSynced":false,"syncedAt":null,"willRenew":null,"nextProductId":null}]}
            """
        return try StateContent.fields.read(JSONValue(parsing: Array(json.utf8)))
    }

    @Test(arguments: [("active", true), ("grace", false)])
    func `tells until when of what was paid, not of a grace`(
        _ status: String,
        _ hasEnd: Bool
    ) throws {
        let sentence = OpenAccess(text: Self.text, state: try Self.state(status)).sentence
        #expect(sentence.isOpen && sentence.text.contains("pro"))
        #expect(sentence.text.contains("until") == hasEnd, "\(sentence.text)")
    }

    @Test(arguments: [("active", true), ("paused", false)])
    func `calls a paused purchase active until no time`(
        _ status: String,
        _ isActive: Bool
    ) throws {
        let purchase = try #require(try Self.state(status).purchases.first)
        let lines = HistoryLines(Self.text)
            .lines(of: OwnedPurchase(state: purchase, ownedSince: nil, periods: []))
        #expect(lines.contains { $0.contains("2025") } == isActive, "\(lines)")
    }
}
