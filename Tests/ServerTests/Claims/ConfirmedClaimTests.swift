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

    @Test func `counts where nobody can be asked, or nobody answers`() async throws {
        let (api, kept) = try Self.refunded()
        #expect(try await Self.status(api, isConfigured: false, "/purchases", kept) == "active")
        api.fail(with: Array(repeating: nil, count: 9))
        #expect(try await Self.status(api, "/purchases", kept) == "active")
        #expect(api.requests.count > 1)
    }
}
