import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// What is first claimed by an old signature (Stores, rule 7).
struct `A claim by an old signature` {
    private static let month = SimulatedAppleAccount.Product(
        id: "com.example.app.pro.month",
        type: "Auto-Renewable Subscription",
        period: 30 * 86_400_000,
        price: 9_990
    )

    /// A month that was bought and given back; what the app kept of it was signed before.
    private static func refunded() throws -> (SimulatedAppStoreAPI, kept: String) {
        let store = try AppStoreWorld.store()
        var account = SimulatedAppleAccount(1, token: nil, of: store)
        account.buy(month, at: AppStoreWorld.start)
        account.refund(0, at: AppStoreWorld.start.plus(seconds: 86_400))
        let api = SimulatedAppStoreAPI(store) { noon }
        api.set([account])
        let jws = try store.authority.sign(try #require(account.originals.first))
        let body = JSONValue.members([
            "store": "app_store",
            "signedTransaction": .string(String(decoding: jws, as: UTF8.self)),
        ])
        return (api, body.description)
    }

    private static func status(
        _ api: SimulatedAppStoreAPI,
        isConfigured: Bool = true,
        _ path: String,
        _ body: String
    ) async throws -> String? {
        let setup = try isConfigured ? SyncWorld.setup(api) : AppStoreWorld.setup()
        let status = Box()
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            let answer = try await server.post("/v1/customers/carol-1" + path, body, as: .write)
            #expect(answer.status == 200)
            let state = try await server.get("/v1/customers/carol-1", as: .read)
            await status.set(state.json["purchases"]?.array?.first?["status"]?.string)
        }
        return await status.text
    }

    private actor Box {
        var text: String?
        func set(_ text: String?) { self.text = text }
    }

    // Z21: a signature from before a refund
    @Test func `is asked about, and gives nothing that was taken back`() async throws {
        let (api, kept) = try Self.refunded()
        #expect(try await Self.status(api, "/purchases", kept) == "refunded")
        #expect(api.requests.count == 1)
        let restore = #"{"transactions":[\#(kept)]}"#
        #expect(try await Self.status(api, "/restore", restore) == "refunded")
    }

    @Test func `is refused where the store knows no such purchase`() async throws {
        let (api, kept) = try Self.refunded()
        api.set([])
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            let path = "/v1/customers/carol-1"
            let claimed = try await server.post(path + "/purchases", kept, as: .write)
            #expect(claimed.status == 400 && claimed.code == "invalid_value", "\(claimed.body)")
            #expect(claimed.json["path"] == "signedTransaction")
            let restore = #"{"transactions":[\#(kept)]}"#
            let restored = try await server.post(path + "/restore", restore, as: .write)
            let item = restored.json["items"]?.array?.first
            #expect(item?["outcome"] == "refused", "\(restored.body)")
            #expect(item?["code"] == "invalid_value")
            let state = try await server.get(path, as: .read)
            #expect(state.json["purchases"]?.array?.first == nil)
        }
    }

    @Test func `counts where nobody can be asked, or nobody answers`() async throws {
        let (api, kept) = try Self.refunded()
        #expect(try await Self.status(api, isConfigured: false, "/purchases", kept) == "active")
        api.fail(with: Array(repeating: nil, count: 9))
        #expect(try await Self.status(api, "/purchases", kept) == "active")
        #expect(api.requests.count > 1)
    }

    private static func purchases(
        _ server: TestServer,
        _ state: String
    ) async throws -> Double? {
        let answer = try await server.get("/metrics")
        return try PrometheusReader(answer.body).families.flatMap(\.samples)
            .first {
                $0.name == "entitle_store_purchases"
                    && $0.labels == ["store": "app_store", "state": state]
            }?.value
    }

    @Test func `is asked about again, until the store answers`() async throws {
        let (api, kept) = try Self.refunded()
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            api.fail(with: Array(repeating: nil, count: 9))
            _ = try await server.post("/v1/customers/carol-1/purchases", kept, as: .write)
            let before = try await server.get("/v1/customers/carol-1", as: .read)
            let codes = before.json["warnings"]?.array?.compactMap { $0["code"]?.string }
            #expect(codes?.contains("unconfirmed") == true)
            let watch = StoreWatch(service: server.service, interval: .seconds(1))
            await watch.look()
            #expect(try await Self.purchases(server, "unconfirmed") == 1)
            // The faults end, sooner or later.
            for _ in 0..<3 { await watch.look() }
            #expect(try await Self.purchases(server, "unconfirmed") == 0)
            let after = try await server.get("/v1/customers/carol-1", as: .read)
            #expect(after.json["purchases"]?.array?.first?["status"]?.string == "refunded")
            #expect(after.json["warnings"]?.array == [])
        }
    }
}
