import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// `Idempotency-Key` on everything that appends (draft-ietf-httpapi-idempotency-key-header; E1).
struct `An idempotency key` {
    /// A call that appends, another content for it, and what is told of it first and again.
    struct Row: Sendable, CustomTestStringConvertible {
        var path: String
        var body: @Sendable () throws -> String
        /// nil: each of its items has a key of its own, by what it names.
        var other: (@Sendable () throws -> String)?
        var first: JSONValue = "appended"
        var again: JSONValue = "duplicate"
        var testDescription: String { path }

        /// What is told of it, or of its one item.
        func told(_ answer: TestAnswer) -> JSONValue {
            answer.json["items"]?.array?.first ?? answer.json
        }
    }

    static let rows = [
        Row(path: "/grants", body: { #"{"tier":"pro"}"# }, other: { #"{"features":["export"]}"# }),
        Row(path: "/trials", body: { #"{"trialId":"week"}"# }, other: { #"{"trialId":"month"}"# }),
        Row(
            path: "/usage",
            body: { #"{"featureId":"scan","amount":5}"# },
            other: { #"{"featureId":"scan","amount":6}"# }
        ),
        Row(
            path: "/flows",
            body: { #"{"type":"started","flowId":"flow-1"}"# },
            other: { #"{"type":"cancelled","flowId":"flow-1"}"# }
        ),
        Row(
            path: "/purchases",
            body: { try AppStoreWorld.transaction(1) },
            other: { try AppStoreWorld.transaction(2) },
            first: "recorded",
            again: "known"
        ),
        Row(
            path: "/restore",
            body: { #"{"transactions":[\#(try AppStoreWorld.transaction(1))]}"# },
            first: "recorded",
            again: "known"
        ),
    ]

    private static func post(
        _ server: TestServer,
        _ path: String,
        _ body: String,
        key: String,
        credential: String? = nil
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        headers[.idempotencyKey] = key
        return try await server.send(
            .post,
            path,
            credential: credential ?? server.keys[.write],
            headers: headers,
            body: body
        )
    }

    /// The sample catalog with another trial.
    private static func publish(_ server: TestServer) async throws {
        let month = #"{"id":"month","days":30,"tier":"pro"}"#
        let catalog = TestServer.catalog.replacing(
            #""trials":["#,
            with: #""trials":[\#(month),"#
        )
        #expect(try await server.post("/v1/catalog", catalog, as: .admin).status == 200)
    }

    @Test(arguments: rows)
    func `makes a repeat a duplicate, quoted or bare, however late`(_ row: Row) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await Self.publish(server)
            let path = "/v1/customers/heidi-1" + row.path
            let body = try row.body()
            let first = try await Self.post(server, path, body, key: "\"key-000001\"")
            let told = row.told(first)
            #expect(first.status == 200 && told["outcome"] == row.first, "\(first.body)")
            let size = try server.ledger.questions.size()
            for (key, seconds) in [("key-000001", 0), ("\"key-000001\"", 5), ("key-000001", 3600)] {
                server.clock.now = noon.plus(seconds: Int64(seconds))
                let again = try await Self.post(server, path, body, key: key)
                #expect(again.status == 200, "\(again.body)")
                #expect(row.told(again)["outcome"] == row.again, "\(again.body)")
                #expect(row.told(again)["sequence"] == told["sequence"])
                #expect(row.told(again)["id"] == told["id"])
            }
            #expect(try server.ledger.questions.size() == size)
        }
    }

    @Test(arguments: rows.filter { $0.other != nil })
    func `of other content is refused`(_ row: Row) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await Self.publish(server)
            let path = "/v1/customers/heidi-1" + row.path
            let (body, content) = (try row.body(), try #require(try row.other?()))
            _ = try await Self.post(server, path, body, key: "key-000001")
            let size = try server.ledger.questions.size()
            let other = try await Self.post(server, path, content, key: "key-000001")
            #expect(other.status == 422 && other.code == "idempotency_key_reused", "\(other.body)")
            #expect(other.json["retryable"] == .bool(false))
            let somebody = "/v1/customers/ivan-22" + row.path
            let elsewhere = try await Self.post(server, somebody, body, key: "key-000001")
            #expect(elsewhere.status == 422, "\(elsewhere.body)")
            #expect(!elsewhere.body.contains("heidi"))
            #expect(try server.ledger.questions.size() == size)
            // Control: another key is another request, if the decision itself allows it.
            let next = try await Self.post(server, path, content, key: "key-000002")
            #expect(next.status == 200, "\(next.body)")
        }
    }

    // row 9.4
    @Test func `of a customer's token is that customer's own`() async throws {
        try await TestServer.with { server in
            try await Self.publish(server)
            for customer in ["heidi-1", "ivan-22"] {
                let answer = try await Self.post(
                    server,
                    "/v1/customers/\(customer)/trials",
                    #"{"trialId":"week"}"#,
                    key: "key-000001",
                    credential: server.token(for: customer)
                )
                #expect(answer.json["outcome"] == "appended", "\(answer.body)")
            }
        }
    }

    @Test func `makes a repeated catalog a duplicate, however late`() async throws {
        try await TestServer.with { server in
            var outcomes: [String?] = []
            for seconds in [0, 1, 3600] {
                server.clock.now = noon.plus(seconds: Int64(seconds))
                let answer = try await Self.post(
                    server,
                    "/v1/catalog",
                    TestServer.catalog,
                    key: "catalog-1",
                    credential: server.keys[.admin]
                )
                outcomes.append(answer.json["outcome"]?.string)
            }
            #expect(outcomes == ["appended", "duplicate", "duplicate"])
            let other = try await Self.post(
                server,
                "/v1/catalog",
                TestServer.catalog.replacing("keep", with: "transfer"),
                key: "catalog-1",
                credential: server.keys[.admin]
            )
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
        }
    }

    // Bytes that are not ASCII may be replaced on the way: two keys would become one.
    @Test(arguments: ["", "\"\"", String(repeating: "k", count: 256), "a\tb", "é", "\u{FFFD}"])
    func `of another form is refused`(_ key: String) async throws {
        try await TestServer.with { server in
            try await Self.publish(server)
            let path = "/v1/customers/heidi-1/trials"
            let answer = try await Self.post(server, path, #"{"trialId":"week"}"#, key: key)
            #expect(answer.status == 400 && answer.code == "invalid_value", "\(answer.body)")
            #expect(answer.json["path"] == "Idempotency-Key")
            // Control: the longest that is taken.
            let longest = String(repeating: "k", count: 255)
            let taken = try await Self.post(server, path, #"{"trialId":"week"}"#, key: longest)
            #expect(taken.status == 200)
        }
    }
}
