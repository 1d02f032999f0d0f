import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// A server that only reads.
struct `A read-only server` {
    private static func setup() throws -> TestServer.Setup {
        var setup = try AppStoreWorld.setup()
        setup.stores.revenueCat = RevenueCatSecret.authentication
        setup.readsOnly = { ledger in
            try TestServer.publishCatalog(in: ledger)
            let request = EntitlementLedger.Request(
                id: "grant-1",
                source: "support",
                environment: .production
            )
            _ = try ledger.appender.grant(
                "grant-1",
                to: "laura-1",
                features: ["export"],
                tier: nil,
                expiresAt: nil,
                reason: nil,
                request
            )
        }
        return setup
    }

    @Test func `answers every question`() async throws {
        try await TestServer.with(Self.setup()) { server in
            #expect(try await server.has("laura-1", "export") == true)
            #expect(try await server.has("nobody-1", "export") == false)
            for path in ["", "/timeline", "/purchases", "/features/scan"] {
                #expect(try await server.get("/v1/customers/laura-1" + path).status == 200)
            }
            for path in ["/v1/catalog", "/metrics", "/readyz", "/healthz", "/openapi.json"] {
                #expect(try await server.get(path).status == 200)
            }
            let flag = try await server.post(
                "/ofrep/v1/evaluate/flags/export",
                #"{"context":{"targetingKey":"laura-1"}}"#,
                as: .read
            )
            #expect(flag.json["value"] == .bool(true))
        }
    }

    @Test func `refuses every append and says why`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let customer = "/v1/customers/laura-1"
            let item = try AppStoreWorld.transaction(1)
            let appends = [
                ("/v1/signals/app-store", try AppStoreWorld.bought("n1")),
                (customer + "/purchases", item),
                (customer + "/restore", #"{"transactions":[\#(item)]}"#),
                (customer + "/grants", #"{"tier":"pro"}"#),
                (customer + "/trials", #"{"trialId":"week"}"#),
                (customer + "/usage", #"{"featureId":"scan"}"#),
                (customer + "/usage", #"{"undo":"use-1"}"#),
                (customer + "/flows", #"{"type":"started","flowId":"flow-1"}"#),
                ("/v1/catalog", TestServer.catalog),
            ]
            for (path, body) in appends {
                let answer = try await server.post(path, body, as: .admin)
                #expect(answer.status == 403 && answer.code == "read_only", "\(path): \(answer)")
            }
            let withdrawn = try await server.send(
                .delete,
                customer + "/grants/grant-1",
                credential: server.keys[.admin]
            )
            #expect(withdrawn.status == 403 && withdrawn.code == "read_only")
            #expect(try server.ledger.questions.size() == 2)
        }
    }

    // Stores, rule 5
    @Test func `refuses what is not signed all the same`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let answer = try await server.send(
                .post,
                "/v1/signals/app-store",
                body: AppStoreWorld.body(Array("text".utf8))
            )
            #expect(answer.status == 400 && answer.code == "malformed")
        }
    }
}
