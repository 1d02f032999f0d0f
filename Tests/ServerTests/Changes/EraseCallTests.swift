import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Erasure over HTTP (row 9.5).
struct `An erasure over HTTP` {
    private static let customer = "/v1/customers/frank-1"

    @Test func `answers with a receipt that names nobody, and is done once`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let trial = #"{"trialId":"week"}"#
            #expect(try await server.post(Self.customer + "/trials", trial).status == 200)
            #expect(try await server.has("frank-1", "export") == true)
            let credential = server.keys[.admin]
            let erased = try await server.send(.delete, Self.customer, credential: credential)
            #expect(erased.status == 200 && erased.json["outcome"] == "erased")
            let receipt = try #require(erased.json["receipt"])
            #expect(receipt["streams"]?.array?.count == 1)
            #expect(!receipt.description.contains("frank-1"))
            #expect(try await server.has("frank-1", "export") == false)
            let again = try await server.send(.delete, Self.customer, credential: credential)
            #expect(again.status == 200 && again.json["outcome"] == "unknown")
            // Who comes back is somebody new: the trial is theirs.
            #expect(try await server.post(Self.customer + "/trials", trial).status == 200)
        }
    }

    @Test func `needs the scope of an administrator`() async throws {
        try await TestServer.with { server in
            for scope in Scope.allCases where scope != .admin {
                let credential = server.keys[scope]
                let answer = try await server.send(.delete, Self.customer, credential: credential)
                #expect(answer.status == 403, "\(scope)")
            }
        }
    }

    @Test func `takes many together, and says before what would go`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for name in ["ann-1", "ben-1", "cy-1"] {
                let path = "/v1/customers/\(name)/trials"
                #expect(try await server.post(path, #"{"trialId":"week"}"#).status == 200)
            }
            let events = try server.events()
            func ask(_ query: String, _ body: String, _ scope: Scope) async throws -> TestAnswer {
                try await server.send(
                    .post,
                    "/v1/erasures" + query,
                    credential: server.keys[scope],
                    body: body
                )
            }
            let body = #"{"customers":["ann-1","nobody-1","cy-1"]}"#
            let plan = try await ask("?dry-run=true", body, .admin)
            #expect(plan.status == 200)
            let subjects = plan.json["streams"]?.array?.map { $0["subject"] }
            #expect(subjects == ["customer/ann-1", "customer/cy-1"])
            #expect(plan.json["unknown"]?.array == ["nobody-1"])
            #expect(try server.events() == events)
            let erased = try await ask("", body, .admin)
            #expect(erased.status == 200 && erased.json["outcome"] == "erased")
            #expect(erased.json["receipt"]?["streams"]?.array?.count == 2)
            #expect(try await server.has("ann-1", "export") == false)
            #expect(try await server.has("cy-1", "export") == false)
            // Control: who was not named has what they had.
            #expect(try await server.has("ben-1", "export") == true)
            // What is only tried is refused as it would be.
            let unnamed = try await server.send(
                .post,
                "/v1/erasures?dry-run=true",
                credential: server.keys[.admin],
                headers: [.idempotencyKey: " "],
                body: body
            )
            #expect(unnamed.status == 400)
            // Who may not is told no plan either.
            for query in ["", "?dry-run=true"] {
                #expect(try await ask(query, body, .support).status == 403)
            }
            let many =
                "[" + [String](repeating: #""a""#, count: 10_001).joined(separator: ",") + "]"
            for (list, path) in [
                ("[]", "customers"), ("[1]", "customers[0]"), (#"["a",""]"#, "customers[1]"),
                (many, "customers"),
            ] {
                let answer = try await ask("", #"{"customers":\#(list)}"#, .admin)
                #expect(
                    answer.status == 400 && answer.json["path"] == .string(path),
                    "\(list.prefix(20))"
                )
            }
        }
    }
}
