import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import StoreSimulator
import Testing

@testable import LedgerServer

/// What a customer buys and hands in, one transaction at a time.
struct `A claim over HTTP` {
    private static func claim(
        _ server: TestServer,
        _ customer: String,
        _ body: String,
        as scope: Scope = .write,
        key: String? = nil
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        headers[.idempotencyKey] = key
        return try await server.post(
            "/v1/customers/\(customer)/purchases",
            body,
            as: scope,
            headers: headers
        )
    }

    // rows CL1, 2.3
    @Test func `records the transaction and opens what it unlocks`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let token = try server.token(for: "carol-1")
            let answer = try await server.send(
                .post,
                "/v1/customers/carol-1/purchases",
                credential: token,
                body: AppStoreWorld.transaction(1)
            )
            #expect(answer.status == 200 && answer.json["outcome"] == "recorded")
            #expect(answer.json["purchase"] == "app_store/300000010000001")
            // Whoever goes on waits for it: an app hands it in again where its server lost it.
            let size = try server.ledger.questions.size()
            #expect(answer.headers[.ledgerSequence] == String(size))
            #expect(answer.json["sequence"] == .integer(1) && answer.json["size"] == .integer(size))
            #expect(try await server.has("carol-1", "export") == true)
            let events = try server.events().compactMap { $0["type"]?.string }
            #expect(events.contains("purchase.completed"))
            #expect(events.contains("verification.passed"))
            #expect(events.contains("customer.claimed"))
        }
    }

    // rows CL2, 6.3
    @Test func `repeated is known, with or without a key, and appends nothing`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.transaction(1)
            let first = try await Self.claim(server, "carol-1", body, key: "c1")
            #expect(first.json["outcome"] == "recorded")
            let size = try server.ledger.questions.size()
            func again(_ key: String?) async throws -> UInt64 {
                let answer = try await Self.claim(server, "carol-1", body, key: key)
                #expect(answer.status == 200 && answer.json["outcome"] == "known", "\(answer)")
                #expect(answer.json["sequence"] == .integer(1))
                #expect(answer.json["size"] == .integer(2))
                return try server.ledger.questions.size()
            }
            // E1
            #expect(try await again("c1") == size)
            // The first repeat that is another request tells when the purchase was synced (row 6.3).
            #expect(try await again(nil) == size + 1)
            for key in [nil, "c1", "c2"] { #expect(try await again(key) == size + 1) }
        }
    }

    // rows CL2, CL7
    @Test(arguments: [Scope.write, .support, .admin])
    func `of another's purchase is refused, and only support learns whose it is`(
        _ scope: Scope
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.transaction(1)
            _ = try await Self.claim(server, "carol-1", body)
            let key = scope == .support ? server.supportKey : server.keys[scope]
            let refused = try await server.send(
                .post,
                "/v1/customers/dave-22/purchases",
                credential: key,
                body: body
            )
            #expect(refused.status == 409 && refused.code == "claimed_by_another")
            let mayKnow = scope != .write
            #expect(refused.json["owner"] == (mayKnow ? "carol-1" : nil))
            #expect(refused.body.contains("carol-1") == mayKnow)
            #expect(try await server.has("dave-22", "export") == false)
            #expect(try await server.has("carol-1", "export") == true)
            // Whoever is told of is told who looked; a backend leaves no trace.
            let noted = try await server.noted(of: "carol-1")
            let actions = noted.compactMap { $0["data"]?["action"]?.string }
            #expect(actions == (mayKnow ? ["claimPurchase"] : []))
        }
    }

    @Test func `of another's purchase tells its customer nothing of the owner`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.transaction(1)
            _ = try await Self.claim(server, "carol-1", body)
            let refused = try await server.send(
                .post,
                "/v1/customers/dave-22/purchases",
                credential: server.token(for: "dave-22"),
                body: body
            )
            #expect(refused.status == 409 && !refused.body.contains("carol-1"))
        }
    }

    // row CL2
    @Test func `under policy transfer moves the purchase`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let catalog = TestServer.catalog.replacing("keep", with: "transfer")
            #expect(try await server.post("/v1/catalog", catalog, as: .admin).status == 200)
            let body = try AppStoreWorld.transaction(1)
            _ = try await Self.claim(server, "carol-1", body)
            server.clock.now = noon.plus(seconds: 1)
            let moved = try await Self.claim(server, "dave-22", body)
            #expect(moved.status == 200 && moved.json["outcome"] == "recorded")
            #expect(try await server.has("dave-22", "export") == true)
            #expect(try await server.has("carol-1", "export") == false)
        }
    }

    // row CL2; E4
    @Test func `by two at once has one winner`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            for number in 1...4 {
                let body = try AppStoreWorld.transaction(number)
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for customer in ["carol-1", "dave-22", "erin-33"] {
                        group.addTask { try await Self.claim(server, customer, body).status }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses.sorted() == [200, 409, 409])
            }
        }
    }

    // A restore holds purchases of several environments; each is noted where it is.
    @Test func `is noted where the purchase is`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let bodies = try ["Production", "Sandbox"].map {
                try AppStoreWorld.transaction(1, environment: $0)
            }
            let restored = try await server.send(
                .post,
                "/v1/customers/carol-1/restore",
                credential: server.supportKey,
                body: #"{"transactions":[\#(bodies.joined(separator: ","))]}"#
            )
            #expect(restored.json["recorded"] == .integer(2), "\(restored.body)")
            let noted = try await server.noted(of: "carol-1")
            let places = noted.map { $0["environment"]?.string ?? "production" }
            #expect(places.sorted() == ["production", "sandbox"])
        }
    }

    // E1
    @Test func `under a key that named another claim is refused as such`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let first = try AppStoreWorld.transaction(1)
            _ = try await Self.claim(server, "carol-1", first, key: "c1")
            let other = try await Self.claim(
                server,
                "carol-1",
                AppStoreWorld.transaction(2),
                key: "c1"
            )
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
            let another = try await Self.claim(server, "dave-22", first, key: "c1")
            #expect(another.status == 422 && another.code == "idempotency_key_reused")
        }
    }

    @Test func `lands in the transaction's environment`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let body = try AppStoreWorld.transaction(1, environment: "Sandbox")
            let answer = try await Self.claim(server, "carol-1", body)
            #expect(answer.json["outcome"] == "recorded")
            #expect(try await server.state("carol-1")["tier"] == "free")
            #expect(try await server.state("carol-1", "?environment=sandbox")["tier"] == "pro")
        }
    }

    // rows CL1, 7.4, ES2
    @Test(arguments: RefusedClaim.all)
    func `of what the store did not sign grants nothing`(_ claim: RefusedClaim) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let answer = try await Self.claim(server, "carol-1", claim.make())
            #expect(answer.status == claim.status && answer.code == claim.code, "\(answer.body)")
            #expect(try await server.has("carol-1", "export") == false)
            let kinds = try server.events().compactMap { $0["type"]?.string }
            #expect(kinds.allSatisfy { $0 == "catalog.published" || $0 == "signal.noted" })
        }
    }
}

/// A claim's body that must not be taken.
struct RefusedClaim: Sendable, CustomTestStringConvertible {
    var name: String
    var status: Int
    var code: String
    var make: @Sendable () throws -> String

    var testDescription: String { name }

    init(
        _ name: String,
        _ status: Int,
        _ code: String,
        _ make: @escaping @Sendable () throws -> String
    ) {
        (self.name, self.status, self.code, self.make) = (name, status, code, make)
    }

    static let all = [
        RefusedClaim("text", 400, "malformed") { AppStoreWorld.item(Array("text".utf8)) },
        RefusedClaim("a notification", 400, "invalid_value") {
            AppStoreWorld.item(
                try AppStoreWorld.store().notification("TEST", start: AppStoreWorld.start)
            )
        },
        RefusedClaim("another bundle", 422, "wrong_bundle") {
            var store = try AppStoreWorld.store()
            store.bundleID = "com.example.other"
            return AppStoreWorld.item(try store.transaction(start: AppStoreWorld.start))
        },
        RefusedClaim("no purchase", 400, "missing_field") {
            AppStoreWorld.item(
                try AppStoreWorld.store().transaction(
                    start: AppStoreWorld.start,
                    .members(["originalTransactionId": .null])
                )
            )
        },
        RefusedClaim("a store that is not known", 400, "invalid_value") {
            #"{"store":"my_store","signedTransaction":"a"}"#
        },
        RefusedClaim("no store", 400, "missing_field") { #"{"signedTransaction":"a"}"# },
        RefusedClaim("no transaction", 400, "missing_field") { #"{"store":"app_store"}"# },
        RefusedClaim("a member too many", 400, "unknown_field") {
            #"{"store":"app_store","signedTransaction":"a","customer":"b"}"#
        },
        RefusedClaim("a list", 400, "malformed") { "[]" },
        RefusedClaim("too much", 413, "too_large") {
            AppStoreWorld.item(Array(repeating: UInt8(ascii: "a"), count: 128 << 10))
        },
    ]
}
