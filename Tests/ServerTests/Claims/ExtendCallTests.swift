import Encodings
import Entitlements
import HTTPTypes
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// A renewal date that is moved over HTTP.
struct `An extension over HTTP` {
    @Test func `moves a renewal date and records what the store signs of it`() async throws {
        let store = try AppStoreWorld.store()
        let api = SimulatedAppStoreAPI(store) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            let account = SyncWorld.subscriber(of: store)
            let told = try store.signed(try #require(account.notifications.first))
            let body = AppStoreWorld.body(told)
            #expect(try await server.post("/v1/signals/app-store", body, as: .ingest).status == 200)
            api.set([account])
            let state = try await server.get("/v1/customers/\(AppStoreWorld.account)")
            let owned = state.json["purchases"]?.array?.first
            let purchase = try #require(owned?["purchase"]?.string)
            let path = "/v1/purchases/\(purchase.pathSegment)/extend"
            let answer = try await server.post(
                path,
                #"{"days":7,"because":"outage"}"#,
                as: .support
            )
            #expect(answer.status == 200, "\(answer.body)")
            let end = try #require(answer.json["endsAt"]?.string)
            let later = try await server.get("/v1/customers/\(AppStoreWorld.account)")
            let moved = later.json["purchases"]?.array?.first?["expiresAt"]?.string
            #expect(moved == end && moved != owned?["expiresAt"]?.string)
            for (body, code) in [
                (#"{"days":91}"#, "out_of_range"), ("{}", "out_of_range"),
                (#"{"days":7,"because":"whim"}"#, "invalid_value"),
                (#"{"days":7,"because":3}"#, "invalid_value"),
            ] {
                #expect(try await server.post(path, body, as: .support).code == code)
            }
            // The App Store may have done it: the same is asked again, and counts once there.
            api.fail(with: [StoreResponse(status: 200, body: Array(#"{"success":true}"#.utf8))])
            let unread = try await server.post(path, #"{"days":7}"#, as: .support)
            #expect(unread.status == 503 && unread.code == "store_unavailable")
            // What it does not do it does at no other time.
            let ineligible = Array(#"{"errorCode":4030004}"#.utf8)
            api.fail(with: [StoreResponse(status: 403, body: ineligible)])
            let refused = try await server.post(path, #"{"days":7}"#, as: .support)
            #expect(refused.status == 409 && refused.code == "conflict", "\(refused.body)")
            let play = try await server.post(
                "/v1/purchases/play_store%2F1/extend",
                #"{"days":7}"#,
                as: .support
            )
            #expect(play.code == "invalid_value")
        }
    }

    // The control: nobody to ask.
    @Test func `says where no store may be asked`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let path = "/v1/purchases/app_store%2F1/extend"
            let answer = try await server.post(path, #"{"days":7}"#, as: .support)
            #expect(answer.code == "not_configured")
        }
    }
}
