import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Two ways to write an accent are two names, end to end (Model, "Events").
struct `Two normal forms over HTTP` {
    /// `josé`, percent-encoded: composed, and decomposed.
    private static let paths = ["/v1/customers/jos%C3%A9-1", "/v1/customers/jose%CC%81-1"]
    private static let ids = ["jos\u{e9}-1", "jose\u{301}-1"]

    private static func key(_ text: String) -> HTTPFields { [.idempotencyKey: "\"\(text)\""] }

    // E1: the second customer got `duplicate`, and nothing.
    @Test func `of a customer under one key are a conflict that names the subject`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let bodies = [
                ("grants", #"{"tier":"pro","grantId":"g"}"#), ("trials", #"{"trialId":"week"}"#),
                ("usage", #"{"featureId":"scan"}"#),
                ("flows", #"{"type":"failed","flowId":"f"}"#),
            ]
            for (call, body) in bodies {
                let path = Self.paths.map { "\($0)/\(call)" }
                let headers = Self.key("key-\(call)")
                let first = try await server.post(path[0], body, headers: headers)
                #expect(first.status == 200 && first.json["outcome"] == "appended", "\(first)")
                let again = try await server.post(path[0], body, headers: headers)
                #expect(again.json["outcome"] == "duplicate", "\(again)")
                let size = try server.ledger.questions.size()
                let second = try await server.post(path[1], body, headers: headers)
                #expect(
                    second.code == "idempotency_key_reused" && second.json["path"] == "subject",
                    "\(second)"
                )
                #expect(try server.ledger.questions.size() == size)
            }
        }
    }

    // Of a value of the same request, too.
    @Test func `of an id under one key are a conflict that names the field`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let path = Self.paths[0] + "/grants"
            let headers = Self.key("key-1")
            func body(_ id: String) -> String { #"{"tier":"pro","grantId":"\#(id)"}"# }
            _ = try await server.post(path, body(Self.ids[0]), headers: headers)
            let second = try await server.post(path, body(Self.ids[1]), headers: headers)
            #expect(
                second.code == "idempotency_key_reused" && second.json["path"] == "data.grantId"
            )
        }
    }

    @Test func `of a customer are two customers, with and without a token`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post(Self.paths[0] + "/grants", #"{"tier":"pro"}"#)
            _ = try await server.post(Self.paths[1] + "/trials", #"{"trialId":"week"}"#)
            let states = [
                try await server.get(Self.paths[0]).json, try await server.get(Self.paths[1]).json,
            ]
            #expect(states[0]["grants"]?.array?.count == 1 && states[0]["trials"] == .array([]))
            #expect(states[1]["grants"] == .array([]) && states[1]["trials"]?.array?.count == 1)
            let token = try server.token(for: Self.ids[0])
            let own = try await server.send(.get, Self.paths[0], credential: token)
            let foreign = try await server.send(.get, Self.paths[1], credential: token)
            #expect(own.status == 200 && foreign.status == 404)
            let gates = "/v1/catalog/gates?customer=jose%CC%81-1"
            #expect(try await server.send(.get, gates, credential: token).status == 404)
        }
    }

    // K9: the answer that is kept in memory and the fold, for products of one text to Swift.
    @Test func `of a product unlock what each of them says`() async throws {
        try await TestServer.with { server in
            let products = ["caf\u{e9}", "cafe\u{301}"]
            let catalog = """
                {"tiers":["free","pro"],"features":[{"id":"export"}],
                 "products":[{"id":"\(products[0])","kind":"non_consumable","unlocks":{"tier":"pro"}},
                   {"id":"\(products[1])","kind":"non_consumable","unlocks":{"features":[]}}]}
                """
            _ = try server.ledger.appender.publish(
                try JSONValue(parsing: Array(catalog.utf8)),
                effective: Instant(milliseconds: 1_577_836_800_000),
                EntitlementLedger.Request(id: "c", source: "catalog", environment: .production)
            )
            for (place, product) in products.enumerated() {
                let purchase = PurchaseName(store: "app_store", originalID: "p-\(place)")
                let events: [(Subject, EventData)] = [
                    (
                        .purchase(purchase),
                        EventData(
                            .purchaseCompleted,
                            [
                                .transactionID: .text("t"), .productID: .text(product),
                                .productKind: .text("non_consumable"),
                            ]
                        )
                    ),
                    (
                        .purchase(purchase),
                        EventData(.verificationPassed, [.method: .text("manual")])
                    ),
                    (
                        .customer("frank-\(place)"),
                        EventData(
                            .customerClaimed,
                            [.purchase: .text(purchase.description)]
                        )
                    ),
                ]
                for (index, (subject, data)) in events.enumerated() {
                    let event = Event(
                        id: "e-\(place)-\(index)",
                        source: "test",
                        subject: subject,
                        time: noon,
                        data: data
                    )
                    _ = try server.ledger.appender.record(Submission(event: event))
                }
            }
            for _ in 0..<2 {
                #expect(try await server.has("frank-0", "export") == true)
                #expect(try await server.has("frank-1", "export") == false)
            }
            for place in products.indices {
                let isAllowed = try server.ledger.questions.can(
                    "frank-\(place)",
                    "export",
                    environment: .production,
                    at: noon
                )
                #expect(isAllowed == (place == 0))
            }
        }
    }
}
