import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// `Ledger-Min-Sequence`: an answer from no less than what the caller has written.
struct `A smallest sequence` {
    private static let paths = [
        "/v1/customers/olga-1", "/v1/customers/olga-1/features/scan",
        "/v1/customers/olga-1/timeline", "/v1/customers/olga-1/purchases", "/v1/catalog",
    ]

    private static func get(
        _ server: TestServer,
        _ path: String,
        _ minimum: String
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        headers[.ledgerMinSequence] = minimum
        return try await server.send(
            .get,
            path,
            credential: server.keys[.read],
            headers: headers
        )
    }

    @Test func `that the log has is answered`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for path in Self.paths {
                for minimum in ["0", "1"] {
                    #expect(try await Self.get(server, path, minimum).status == 200)
                }
            }
        }
    }

    @Test func `that the log will have soon is waited for`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            async let waiting = Self.get(server, "/v1/customers/olga-1/features/export", "2")
            let given = try await server.post("/v1/customers/olga-1/grants", #"{"tier":"pro"}"#)
            #expect(given.headers[.ledgerSequence] == "2")
            let answer = try await waiting
            #expect(answer.status == 200 && answer.json["allowed"] == .bool(true))
            #expect(answer.headers[.ledgerSequence] == "2")
        }
    }

    @Test func `that the log does not reach is refused for now`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { group in
                for path in Self.paths {
                    group.addTask { try await Self.get(server, path, "2") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers {
                #expect(answer.status == 503 && answer.code == "not_there_yet")
                #expect(answer.json["retryable"] == .bool(true))
                #expect(answer.headers[.retryAfter] == "1")
            }
        }
    }

    @Test(arguments: ["", "-1", "two", "18446744073709551616", "1.0"])
    func `that is no number is refused`(_ text: String) async throws {
        try await TestServer.with { server in
            let answer = try await Self.get(server, Self.paths[0], text)
            #expect(answer.status == 400 && answer.code == "invalid_value")
            #expect(answer.json["path"] == "Ledger-Min-Sequence")
        }
    }
}
