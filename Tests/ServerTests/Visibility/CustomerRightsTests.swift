import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// What a customer's token may ask for beside their state (Interfaces, "Who may").
struct `A customer's token` {
    private static func with(
        _ body: @escaping @Sendable (TestServer, _ token: String) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let grant = #"{"tier":"pro","grantId":"g-1","reason":"a friend of mine"}"#
            _ = try await server.post("/v1/customers/frank-1/grants", grant)
            try await body(server, try server.token(for: "frank-1"))
        }
    }

    @Test func `is explained to in the words for customers alone`() async throws {
        try await Self.with { server, token in
            let path = "/v1/customers/frank-1/explain?feature=export"
            let answer = try await server.send(.get, path, credential: token)
            #expect(answer.status == 200)
            #expect(answer.json["audience"] == "customer" && answer.json["allowed"] == .bool(true))
            for audience in ["developer", "support"] {
                let answer = try await server.send(
                    .get,
                    path + "&for=" + audience,
                    credential: token
                )
                #expect(answer.status == 403 && answer.code == "forbidden")
            }
            let support = try await server.get(path, as: .support)
            #expect(support.json["audience"] == "developer")
        }
    }

    @Test func `exports what is their own, redacted`() async throws {
        try await Self.with { server, token in
            let path = "/v1/customers/frank-1/export"
            let answer = try await server.send(.get, path, credential: token)
            #expect(answer.status == 200)
            #expect(answer.body.contains("grant.given"))
            #expect(!answer.body.contains("a friend of mine"))
            #expect(!answer.body.contains("evidence.ndjson"))
            let check = try ExportCheckAnswer(StreamedExport(answer.body), key: nil)
            #expect(check.isOK, "\(check.faults)")
            for level in ["none", "signatures"] {
                let answer = try await server.send(
                    .get,
                    path + "?redact=" + level,
                    credential: token
                )
                #expect(answer.status == 403 && answer.code == "forbidden")
            }
        }
    }

    @Test func `reads gates and offerings as their own experiments say, and nobody else's`()
        async throws
    {
        try await Self.with { server, token in
            for path in ["/v1/catalog/gates", "/v1/offerings"] {
                let own = try await server.send(.get, path, credential: token)
                let named = try await server.send(
                    .get,
                    path + "?customer=frank-1",
                    credential: token
                )
                #expect(own.status == 200 && own.body == named.body)
                let other = try await server.send(
                    .get,
                    path + "?customer=grace-1",
                    credential: token
                )
                #expect(other.status == 404 && other.code == "not_found")
            }
        }
    }

    // Who took back what was used up would have no limit.
    @Test func `does not take back a use`() async throws {
        try await Self.with { server, token in
            let path = "/v1/customers/frank-1/usage"
            let used = try await server.send(
                .post,
                path,
                credential: token,
                body: #"{"featureId":"scan"}"#
            )
            let id = try #require(used.json["useId"]?.string)
            let size = try server.ledger.questions.size()
            let refused = try await server.send(
                .post,
                path,
                credential: token,
                body: #"{"undo":"\#(id)"}"#
            )
            #expect(refused.status == 403 && refused.code == "forbidden")
            #expect(try server.ledger.questions.size() == size)
            let undone = try await server.post(path, #"{"undo":"\#(id)"}"#)
            #expect(undone.status == 200 && undone.json["outcome"] == "appended")
        }
    }

    // Z11: what a token stands for is what was answered, and asks again to the same bytes.
    @Test func `gets a decision token for what it was shown`() async throws {
        try await TestServer.with { server in
            var world = VisibilityWorld(seed: 1)
            try world.record(in: server)
            let path = "/v1/customers/" + VisibilityWorld.Relation.former.id
            let customer = try server.token(for: VisibilityWorld.Relation.former.id)
            for part in ["", "/timeline", "/purchases"] {
                let own = try await server.send(.get, path + part, credential: customer).json
                let whole = try await server.get(path + part, as: .support).json
                for answer in [own, whole] {
                    let text = try #require(answer["token"]?.string)
                    let token = try #require(DecisionToken(text))
                    #expect(
                        try server.ledger.questions.answer(to: token).answer?.text.description
                            == answer.description
                    )
                }
                #expect(own["token"] != whole["token"])
            }
        }
    }
}
