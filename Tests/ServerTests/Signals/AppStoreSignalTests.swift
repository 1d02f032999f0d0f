import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import StoreSimulator
import Testing

@testable import LedgerServer

/// From a notification that the App Store signed to what its customer may do.
struct `App Store signals over HTTP` {
    private static let path = "/v1/signals/app-store"

    private static func post(_ server: TestServer, _ body: String) async throws -> TestAnswer {
        try await server.send(.post, path, body: body)
    }

    // rows 7.3, 7.4, PL3, 2.3
    @Test func `open what was bought, to the customer whom the purchase names`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            #expect(try await server.has(AppStoreWorld.account, "export") == false)
            let answer = try await Self.post(server, AppStoreWorld.bought("n1"))
            #expect(answer.status == 200 && answer.json["outcome"] == "appended")
            #expect(answer.json["sequence"] == .integer(1))
            let size = try server.ledger.questions.size()
            #expect(answer.headers[.ledgerSequence] == String(size))
            #expect(answer.json["size"] == .integer(Int64(size)))

            let state = try await server.state(AppStoreWorld.account)
            #expect(state["tier"] == "pro")
            let export = state["features"]?["export"]
            #expect(export?["allowed"] == .bool(true) && export?["reason"] == "purchase")
            #expect(export?["sources"] == .strings([AppStoreWorld.purchase]))
            #expect(export?["until"] == .instant(AppStoreWorld.end))
            #expect(try await server.has("somebody-else", "export") == false)
        }
    }

    // Stores, rule 6: what stands beside the signed text is nobody's word.
    @Test func `are not lost for half a character beside them`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let body = try AppStoreWorld.bought("n1")
            let broken = #"{"note":"\ud800","# + body.dropFirst()
            let answer = try await Self.post(server, broken)
            #expect(answer.status == 200 && answer.json["outcome"] == "appended")
            #expect(try await Self.post(server, "{" + broken).status == 400)
        }
    }

    // Stores, rule 10; E1
    @Test func `are recorded once, however often they come`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.bought("n1")
            let first = try await Self.post(server, body)
            let size = try server.ledger.questions.size()
            for _ in 0..<3 {
                let again = try await Self.post(server, body)
                #expect(again.status == 200 && again.json["outcome"] == "duplicate")
                #expect(again.json["sequence"] == first.json["sequence"])
            }
            #expect(try server.ledger.questions.size() == size)
            // Control: another id is another signal.
            let other = try await Self.post(server, AppStoreWorld.bought("n2"))
            #expect(other.json["outcome"] == "appended")
        }
    }

    // Stores, rule 10
    @Test func `are recorded once even if they come all at once`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.bought("n1")
            let outcomes = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await Self.post(server, body).json["outcome"]?.string }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.filter { $0 == "appended" }.count == 1)
            #expect(outcomes.filter { $0 == "duplicate" }.count == 7)
        }
    }

    // row CL7, row PL3
    @Test func `take away what was refunded, and nothing else`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            _ = try await Self.post(server, AppStoreWorld.bought("n1"))
            let store = try AppStoreWorld.store()
            let date = noon.plus(seconds: -60)
            let refund = try store.notification(
                "REFUND",
                id: "n2",
                start: AppStoreWorld.start,
                transaction: .members([
                    "revocationDate": .integer(date.milliseconds),
                    "revocationReason": .integer(0), "signedDate": .integer(date.milliseconds),
                ])
            )
            #expect(try await server.has(AppStoreWorld.account, "export") == true)
            #expect(try await Self.post(server, AppStoreWorld.body(refund)).status == 200)
            #expect(try await server.has(AppStoreWorld.account, "export") == false)
            let state = try await server.state(AppStoreWorld.account)
            #expect(state["purchases"]?.array?.first?["status"] == "refunded")
            #expect(state["features"]?["scan"]?["allowed"] == .bool(true))
        }
    }

    // Stores, rule 5
    @Test func `of a kind that nobody knows are kept`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let jws = try AppStoreWorld.store().notification(
                "SOMETHING_NEW",
                "OF_NEXT_YEAR",
                id: "n1",
                start: AppStoreWorld.start
            )
            #expect(try await Self.post(server, AppStoreWorld.body(jws)).status == 200)
            let types = try server.events().map { $0["type"] }
            // Beside the note stands what is signed in it (Stores, rule 5).
            #expect(types.contains("signal.noted") && types.contains("purchase.completed"))
        }
    }

    @Test func `from the sandbox stay there`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let jws = try AppStoreWorld.store("Sandbox").notification(
                "SUBSCRIBED",
                id: "n1",
                start: AppStoreWorld.start,
                transaction: .members(["appAccountToken": .string(AppStoreWorld.account)])
            )
            #expect(try await Self.post(server, AppStoreWorld.body(jws)).status == 200)
            #expect(try await server.state(AppStoreWorld.account)["tier"] == "free")
            let sandbox = try await server.state(AppStoreWorld.account, "?environment=sandbox")
            #expect(sandbox["tier"] == "pro")
        }
    }

    // Stores, rule 10
    @Test func `are asked for again by a server that has no App Store yet`() async throws {
        try await TestServer.with { server in
            let answer = try await Self.post(server, AppStoreWorld.bought("n1"))
            #expect(answer.status == 503 && answer.code == "not_configured")
            #expect(answer.json["retryable"] == .bool(true))
            #expect(try server.ledger.questions.size() == 0)
        }
    }

    // Stores, rule 10; E3
    @Test(arguments: [
        (LogStorageFault.Code.full, 507, "storage_full"), (.busy, 503, "busy"),
        (.unreadable, 500, "storage"), (.outcomeUnknown, 500, "storage"),
    ])
    func `are asked for again while the disk does not take them`(
        _ code: LogStorageFault.Code,
        _ status: Int,
        _ word: String
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.bought("n1")
            server.storage.fault = LogStorageFault(code, "a fault that a test made")
            let refused = try await Self.post(server, body)
            #expect(refused.status == status && refused.code == word)
            #expect(refused.json["retryable"] == .bool(true))
            #expect(try await server.has(AppStoreWorld.account, "export") == false)
            // Control: what was not acknowledged is taken when the disk is well again.
            server.storage.fault = nil
            #expect(try await Self.post(server, body).json["outcome"] == "appended")
            #expect(try await server.has(AppStoreWorld.account, "export") == true)
        }
    }
}
