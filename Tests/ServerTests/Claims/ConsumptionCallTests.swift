import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// What the App Store is told over HTTP of a customer who wants their money back.
struct `Consumption over HTTP` {
    private static func path(_ transaction: String) -> String {
        "/v1/app-store/transactions/\(transaction)/consumption"
    }

    @Test func `is told to the store, and noted of whom it is about`() async throws {
        let store = try AppStoreWorld.store()
        let api = SimulatedAppStoreAPI(store) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            let account = SyncWorld.subscriber(of: store)
            let told = try store.signed(try #require(account.notifications.first))
            let notification = AppStoreWorld.body(told)
            _ = try await server.post("/v1/signals/app-store", notification, as: .ingest)
            api.set([account])
            let transaction = try #require(account.transactions.first?["transactionId"]?.string)
            let size = try server.ledger.questions.size()
            var headers = HTTPFields()
            headers[.accessReason] = "ticket 12"
            let body =
                #"{"consented":true,"delivery":"quality_issue","sampled":true,"percentage":40,"#
                + #""preference":"grant_full"}"#
            let answer = try await server.post(
                Self.path(transaction),
                body,
                as: .support,
                headers: headers
            )
            #expect(answer.status == 200 && answer.body == #"{"told":true}"#, "\(answer.body)")
            let sent = try JSONValue(parsing: try #require(api.requests.last).body)
            #expect(sent["deliveryStatus"] == "UNDELIVERED_QUALITY_ISSUE")
            #expect(sent["sampleContentProvided"] == .bool(true))
            #expect(sent["refundPreference"] == "GRANT_FULL")
            let noted = try await server.noted(from: size)
            #expect(noted.map { $0["data"]?["action"]?.string } == ["tellConsumption"])
            #expect(noted.map { $0["data"]?["reason"]?.string } == ["ticket 12"])
            #expect(noted.first?["subject"]?.string?.contains(AppStoreWorld.account) == true)
        }
    }

    @Test func `is told of no purchase that the store does not know`() async throws {
        let store = try AppStoreWorld.store()
        let api = SimulatedAppStoreAPI(store) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            let consented = #"{"consented":true}"#
            let answer = try await server.post(Self.path("1"), consented, as: .support)
            #expect(answer.status == 404 && answer.code == "unknown_purchase", "\(answer.body)")
        }
    }

    @Test(arguments: [
        ("{}", "invalid_value"), (#"{"consented":false}"#, "invalid_value"),
        (#"{"consented":true,"delivery":"lost"}"#, "invalid_value"),
        (#"{"consented":true,"sampled":1}"#, "invalid_value"),
        (#"{"consented":true,"percentage":101}"#, "out_of_range"),
        (#"{"consented":true,"percentage":-1}"#, "out_of_range"),
        (#"{"consented":true,"percentage":"9"}"#, "out_of_range"),
        (#"{"consented":true,"preference":"none"}"#, "invalid_value"),
        (#"{"consented":true,"customer":"x"}"#, "unknown_field"),
        // The control: what could be told, where nobody can be.
        (#"{"consented":true}"#, "not_configured"),
    ])
    func `is refused as the command refuses it`(_ body: String, _ code: String) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let answer = try await server.post(Self.path("1"), body, as: .support)
            #expect(answer.code == code, "\(answer.body)")
        }
    }
}
