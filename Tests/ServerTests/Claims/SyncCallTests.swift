import Encodings
import Entitlements
import HTTPTypes
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// What the stores are asked about a customer, over HTTP (Stores, rule 9).
struct `A sync over HTTP` {
    private static func sync(
        _ server: TestServer,
        as scope: Scope = .support
    ) async throws -> TestAnswer {
        try await server.post("/v1/customers/\(AppStoreWorld.account)/sync", "", as: scope)
    }

    // row 6.2, row 8.3
    @Test func `brings what was lost, and says what differed`() async throws {
        let store = try AppStoreWorld.store()
        let api = SimulatedAppStoreAPI(store) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            var account = SyncWorld.subscriber(of: store)
            let told = try store.signed(try #require(account.notifications.first))
            let body = AppStoreWorld.body(told)
            let heard = try await server.post("/v1/signals/app-store", body, as: .ingest)
            #expect(heard.status == 200)
            account.refund(0, at: AppStoreWorld.start.plus(seconds: 86_400))
            api.set([account])
            let answer = try await Self.sync(server)
            #expect(answer.status == 200)
            #expect(answer.json["purchases"]?.array?.first?["outcome"] == "reconciled")
            #expect(answer.json["purchases"]?.array?.first?["differences"] == .strings(["status"]))
            let again = try await Self.sync(server, as: .write)
            #expect(again.json["purchases"]?.array?.first?["outcome"] == "completed")
            #expect(again.json["appended"]?.integer == 0)
        }
    }

    @Test func `of everybody takes no word for a yes`() async throws {
        let api = SimulatedAppStoreAPI(try AppStoreWorld.store()) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            for (body, code) in [
                (#"{"again":"true"}"#, "invalid_value"), (#"{"again":true}"#, nil),
            ] {
                let answer = try await server.post("/v1/sync", body, as: .admin)
                #expect(answer.json["code"]?.string == code, "\(answer.body)")
            }
        }
    }

    @Test func `says where no store may be asked`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let answer = try await Self.sync(server)
            #expect(answer.json["code"] == "not_configured")
        }
    }
}
