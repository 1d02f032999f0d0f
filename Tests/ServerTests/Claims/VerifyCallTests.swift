import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// Recorded evidence, judged by whom the server trusts now (row 7.5; Stores, rule 5).
struct `A customer's evidence over HTTP` {
    private static let path = "/v1/customers/carol-1/verify"

    /// A server that has taken carol's purchase by one authority's word.
    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let signed = try AppStoreWorld.transaction(1)
            let claimed = try await server.post("/v1/customers/carol-1/purchases", signed)
            #expect(claimed.status == 200)
            try await body(server)
        }
    }

    /// Trusts another authority from now on, and no other.
    private static func distrust(_ server: TestServer) throws {
        let store = try AppStoreWorld.store()
        let other = try SigningAuthority(validity: AppStoreWorld.validity)
        var trust = server.service.trust.current
        trust.stores.appStore = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [store.bundleID],
                appAppleID: store.appAppleID,
                roots: [other.root]
            )
        )
        server.service.renew(trust)
    }

    @Test func `holds while its authority is trusted`() async throws {
        try await Self.with { server in
            let answer = try await server.post(Self.path, "", as: .support)
            #expect(answer.status == 200 && answer.json["ok"] == .bool(true), "\(answer.body)")
            #expect(answer.json["verified"] == .integer(1))
            #expect(answer.json["customer"] == "carol-1")
            let item = answer.json["evidence"]?.array?.first
            #expect(item?["purchases"] == .array(["app_store/300000010000001"]))
        }
    }

    @Test func `fails by today's roots, and is recorded where that is asked for`() async throws {
        try await Self.with { server in
            #expect(try await server.has("carol-1", "export") == true)
            try Self.distrust(server)
            let size = try server.ledger.questions.size()
            let found = try await server.post(Self.path, "", as: .admin)
            #expect(found.json["failed"] == .integer(1) && found.json["recorded"] == .integer(0))
            #expect(found.json["evidence"]?.array?.first?["code"] == "untrusted_root")
            #expect(try await server.has("carol-1", "export") == true)
            let recorded = try await server.post(Self.path + "?record=true", "", as: .support)
            #expect(recorded.json["recorded"] == .integer(1))
            #expect(try await server.has("carol-1", "export") == false)
            let again = try await server.post(Self.path + "?record=true", "", as: .support)
            #expect(again.json["failed"] == .integer(1) && again.json["recorded"] == .integer(0))
            let events = try server.events().dropFirst(Int(size))
            let failures = events.filter { $0["type"] == "verification.failed" }
            #expect(failures.count == 1)
            #expect(failures.first?["data"]?["reason"] == "untrusted_root")
        }
    }

    @Test func `of nobody is nothing`() async throws {
        try await Self.with { server in
            let answer = try await server.post("/v1/customers/nobody/verify", "", as: .support)
            #expect(answer.status == 200 && answer.json["evidence"] == .array([]))
            let odd = try await server.post(Self.path + "?record=yes", "", as: .support)
            #expect(odd.status == 400 && odd.code == "invalid_value")
        }
    }
}
