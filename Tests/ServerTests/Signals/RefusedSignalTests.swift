import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import StoreSimulator
import Testing

@testable import LedgerServer

/// What anybody may post to the App Store's address, and must not get anywhere with.
struct `App Store signals that are refused` {
    private static let path = "/v1/signals/app-store"

    /// Everything that the log holds of the App Store.
    private static func storeEvents(_ server: TestServer) throws -> [JSONValue] {
        try server.events().filter { $0["subject"]?.string != "catalog" }
    }

    // Stores, rules 2, 5, 10; rows 7.4, CL1, CL3
    @Test(arguments: RefusedSignal.all)
    func `get their code, take nothing away and leave one note an hour`(
        _ signal: RefusedSignal
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let bought = try await server.send(
                .post,
                Self.path,
                body: AppStoreWorld.bought("n1")
            )
            // Control: what is signed as it must be is taken here.
            #expect(bought.json["outcome"] == "appended")
            let before = try Self.storeEvents(server).count
            let body = AppStoreWorld.body(try signal.make(AppStoreWorld.store()))
            for _ in 0..<5 {
                let answer = try await server.send(.post, Self.path, body: body)
                #expect(answer.status == signal.status, "\(answer.body)")
                #expect(answer.code == signal.code, "\(answer.body)")
            }
            let noted = try Self.storeEvents(server).dropFirst(before)
            try #require(noted.count == 1)
            Self.expect(noted.first, signal.code, count: 1)
            server.clock.now = noon.plus(seconds: 3600)
            _ = try await server.send(.post, Self.path, body: body)
            let later = try Self.storeEvents(server).dropFirst(before + 1)
            try #require(later.count == 1)
            Self.expect(later.first, signal.code, count: 5)
            #expect(try await server.has(AppStoreWorld.account, "export") == true)
        }
    }

    private static func expect(_ event: JSONValue?, _ code: String, count: Int) {
        #expect(event?["type"] == "signal.noted")
        #expect(event?["subject"] == "store/app_store")
        #expect(event?["data"]?["name"] == "verification_refused")
        #expect(event?["data"]?["detail"] == .string("code \(code), count \(count)"))
    }

    // E1: the first outcome stands.
    @Test func `include replays with changed content, which change nothing`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            _ = try await server.send(.post, Self.path, body: AppStoreWorld.bought("n1"))
            let store = try AppStoreWorld.store()
            let size = try server.ledger.questions.size()
            // As genuine as the first, but its id is taken.
            let replay = try store.notification(
                "REFUND",
                id: "n1",
                start: AppStoreWorld.start,
                transaction: .members([
                    "revocationDate": .integer(AppStoreWorld.start.milliseconds)
                ])
            )
            let answer = try await server.send(.post, Self.path, body: AppStoreWorld.body(replay))
            #expect(answer.status == 200 && answer.json["outcome"] == "duplicate")
            #expect(try server.ledger.questions.size() == size)
            #expect(try await server.has(AppStoreWorld.account, "export") == true)
        }
    }

    @Test(arguments: [
        ("", 400, "malformed"), ("not JSON", 400, "malformed"), ("[]", 400, "missing_field"),
        ("{}", 400, "missing_field"), (#"{"signedPayload":7}"#, 400, "invalid_value"),
        (#"{"signedPayload":"a","signedPayload":"b"}"#, 400, "malformed"),
        (#"{"signedPayload":""}"#, 400, "malformed"),
    ])
    func `include bodies of another form`(
        _ body: String,
        _ status: Int,
        _ code: String
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            for _ in 0..<2 {
                let answer = try await server.send(.post, Self.path, body: body)
                #expect(answer.status == status && answer.code == code, "\(answer.body)")
            }
            // Stores, rule 5
            let noted = try Self.storeEvents(server)
            #expect(noted.count == 1)
            Self.expect(noted.first, code, count: 1)
        }
    }

    @Test func `include bodies beyond half a mebibyte`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let body = AppStoreWorld.body(Array(repeating: UInt8(ascii: "a"), count: 512 << 10))
            let answer = try await server.send(.post, Self.path, body: body)
            #expect(answer.status == 413 && answer.code == "too_large")
            #expect(try server.ledger.questions.size() == 0)
        }
    }
}
