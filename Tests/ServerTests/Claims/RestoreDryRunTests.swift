import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// Whether a restore would move anything from somebody (`?dry-run=true`).
struct `A restore that is only tried over HTTP` {
    private static func body(_ items: [String]) -> String {
        #"{"transactions":[\#(items.joined(separator: ","))]}"#
    }

    private static func items(_ answer: TestAnswer) -> [[JSONValue?]] {
        (answer.json["items"]?.array ?? []).map { item in
            ["outcome", "code", "moves", "owner"].map { item[$0] }
        }
    }

    /// What dave owns, what carol owns, what nobody knows, and what no store signed.
    private static func with(
        policy: String,
        _ body: @escaping @Sendable (TestServer, [String]) async throws -> Void
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let catalog = TestServer.catalog.replacing(#""keep""#, with: "\"\(policy)\"")
            _ = try server.ledger.appender.publish(
                try JSONValue(parsing: Array(catalog.utf8)),
                effective: Instant(milliseconds: 1_577_836_800_000),
                EntitlementLedger.Request(
                    id: "catalog",
                    source: Source.catalog,
                    environment: .production
                )
            )
            let signed = try (1...3).map { try AppStoreWorld.transaction($0) }
            _ = try await server.post("/v1/customers/dave-22/purchases", signed[0])
            _ = try await server.post("/v1/customers/carol-1/purchases", signed[1])
            server.clock.now = noon.plus(seconds: 7200)
            try await body(server, signed + [AppStoreWorld.item(Array("text".utf8))])
        }
    }

    private static let path = "/v1/customers/carol-1/restore"

    @Test(arguments: ["keep", "transfer"])
    func `says of each what would become of it, and records nothing`(
        _ policy: String
    ) async throws {
        try await Self.with(policy: policy) { server, items in
            let events = try server.events()
            let tried = try await server.send(
                .post,
                Self.path + "?dry-run=true",
                credential: try server.token(for: "carol-1"),
                body: Self.body(items)
            )
            #expect(tried.status == 200 && tried.json["dryRun"] == .bool(true))
            #expect(try server.events() == events)
            let first: [JSONValue?] =
                policy == "keep"
                ? ["refused", "claimed_by_another", .bool(false), nil]
                : ["recorded", nil, .bool(true), nil]
            #expect(
                Self.items(tried) == [
                    first, ["known", nil, .bool(false), nil],
                    ["recorded", nil, .bool(false), nil], ["refused", "malformed", nil, nil],
                ]
            )
            // Whose it is the customer is not told (Stores, rule 7).
            #expect(!tried.body.contains("dave-22"))
            // The control: made, it does just that, and leaves more than events of purchases.
            let done = try await server.post(Self.path, Self.body(items))
            #expect(done.json["dryRun"] == nil)
            for name in ["recorded", "known", "refused"] {
                #expect(done.json[name] == tried.json[name])
            }
            #expect(try server.events().count > events.count + 2)
        }
    }

    @Test(arguments: ["keep", "transfer"])
    func `tells support from whom`(_ policy: String) async throws {
        try await Self.with(policy: policy) { server, items in
            let tried = try await server.send(
                .post,
                Self.path + "?dry-run=true",
                credential: server.supportKey,
                headers: [.accessReason: "ticket 12"],
                body: Self.body([items[0]])
            )
            #expect(tried.json["items"]?.array?.first?["owner"] == "dave-22")
            // Both are looked at, and each is told so (Interfaces, "Who may").
            for customer in ["carol-1", "dave-22"] as [CustomerID] {
                let noted = try await server.noted(of: customer)
                #expect(noted.map { $0["data"]?["action"] } == ["restorePurchases"], "\(customer)")
                #expect(noted.map { $0["data"]?["reason"] } == ["ticket 12"])
            }
        }
    }

    @Test func `works on a server that only reads`() async throws {
        var setup = try AppStoreWorld.setup()
        setup.readsOnly = { try TestServer.publishCatalog(in: $0) }
        try await TestServer.with(setup) { server in
            let body = Self.body([try AppStoreWorld.transaction(1)])
            let tried = try await server.post(Self.path + "?dry-run=true", body)
            #expect(tried.status == 200 && tried.json["recorded"] == .integer(1))
            let made = try await server.post(Self.path + "?dry-run=false", body)
            #expect(made.status == 403 && made.code == "read_only")
        }
    }

    @Test func `is asked for plainly`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let answer = try await server.post(Self.path + "?dry-run=yes", Self.body([]))
            #expect(answer.status == 400 && answer.code == "invalid_value")
            let other = try await server.post(
                "/v1/customers/carol-1/purchases?dry-run=true",
                try AppStoreWorld.transaction(1)
            )
            #expect(other.status == 400 && other.code == "unknown_parameter")
        }
    }
}
