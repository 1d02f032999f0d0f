import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Testing

@testable import LedgerServer

/// Lines of an import that a server is handed.
struct `An import's lines` {
    private static func event(_ id: String, _ type: String = "grant.given") -> String {
        """
        {"specversion":"1.0","id":"\(id)","source":"legacy","type":"\(type)",\
        "subject":"customer/ann","time":"2026-01-05T00:00:00Z","environment":"production",\
        "data":{"grantId":"g","tier":"pro"}}
        """
    }

    private static func webhook(_ price: Int) -> String {
        """
        {"api_version":"1.0","event":{"id":"w","type":"INITIAL_PURCHASE","app_user_id":"jack",\
        "original_app_user_id":"jack","product_id":"month","store":"APP_STORE",\
        "environment":"PRODUCTION","original_transaction_id":"t","transaction_id":"t",\
        "purchased_at_ms":1760000000000,"expiration_at_ms":1790000000000,\
        "event_timestamp_ms":1760000001000,"period_type":"NORMAL","price":\(price)}}
        """
    }

    private static func body(_ texts: [String?], isDocument: Bool = false) -> String {
        let lines = texts.enumerated().map { number, text in
            ImportLine(line: number + 1, bytes: text.map { Array($0.utf8) })
        }
        return AnswerText(ImportBatch(lines: lines, isDocument: isDocument)).description
    }

    private static func outcomes(_ answer: TestAnswer) -> [String] {
        answer.json["items"]?.array?.compactMap { $0["outcome"]?.string } ?? []
    }

    @Test func `are recorded up to a refusal that stops, and once`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let lines = [Self.event("1"), "{", Self.event("2"), nil]
            func send(_ query: String) async throws -> TestAnswer {
                try await server.post("/v1/import" + query, Self.body(lines), as: .admin)
            }
            let stopped = try await send("")
            #expect(Self.outcomes(stopped) == ["appended", "refused"])
            let skipped = try await send("?onError=skip&format=events")
            #expect(Self.outcomes(skipped) == ["duplicate", "refused", "appended", "refused"])
            #expect(skipped.json["sequence"]?.integer == 3)
            let items = try #require(skipped.json["items"]?.array)
            #expect(items[1]["code"]?.string == "malformed" && items[1]["line"]?.integer == 2)
            #expect(items[3]["code"]?.string == "too_large" && items[1]["bytes"] == nil)
            // What is quarantined is told, for it is kept by whoever asks.
            let told = try await send("?onError=quarantine")
            let bytes = told.json["items"]?.array?[1]["bytes"]?.string
            #expect(bytes == Base64.encode(Array("{".utf8).span))
            #expect(try server.ledger.questions.size() == 3)
        }
    }

    @Test func `say something else, and are none, and are told of`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            func send(_ body: String, _ query: String = "") async throws -> TestAnswer {
                try await server.post("/v1/import" + query, body, as: .admin)
            }
            _ = try await send(Self.body([Self.event("1")]))
            let other = Self.event("1").replacing(#""pro""#, with: #""free""#)
            let conflict = try await send(Self.body([other]))
            #expect(conflict.json["items"]?.array?[0]["code"]?.string == "conflict")
            let webhooks = try await send(Self.body([Self.webhook(1), Self.webhook(2)]))
            #expect(Self.outcomes(webhooks) == ["appended", "duplicate"])
            #expect(webhooks.json["items"]?.array?[1]["differs"]?.bool == true)
            #expect(webhooks.json["items"]?.array?[1]["format"]?.string == "revenuecat")
            let document = try await send(
                Self.body(["[\n" + Self.event("2") + "\n]"], isDocument: true),
                "?format=events&onError=skip"
            )
            #expect(Self.outcomes(document) == ["appended"])
            #expect(try await send("{}").code == "malformed")
            #expect(try await send(#"{"lines":[{"line":1,"bytes":"?"}]}"#).code == "malformed")
            #expect(try await send(Self.body([]), "?format=none").code == "invalid_value")
            // What only a ledger itself records, nobody says over the network.
            let logged = Self.event("3", "access.logged").replacing(
                #"{"grantId":"g","tier":"pro"}"#,
                with: #"{"actor":"a","action":"b"}"#
            )
            let refused = try await send(Self.body([logged]))
            #expect(refused.json["items"]?.array?[0]["code"]?.string == "not_permitted")
        }
    }
}
