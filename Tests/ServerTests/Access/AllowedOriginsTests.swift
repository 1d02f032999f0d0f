import HTTPTypes
import Testing

@testable import LedgerServer

/// Pages of configured origins ask from a browser, by a customer's token (row 9.4).
struct `A page` {
    private static let origin = "https://app.example.com"

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var setup = TestServer.Setup()
        setup.adjust = { options in
            if let origins = AllowedOrigins([origin, "http://localhost:3000"]) {
                options.origins = origins
            }
        }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            try await body(server)
        }
    }

    private static func ask(
        _ server: TestServer,
        _ method: HTTPRequest.Method,
        from origin: String?,
        _ more: HTTPFields = [:]
    ) async throws -> TestAnswer {
        var headers = more
        if let origin { headers[.origin] = origin }
        let token = method == .get ? try server.token(for: "alice-1") : nil
        return try await server.send(
            method,
            "/v1/customers/alice-1",
            credential: token,
            headers: headers
        )
    }

    @Test(arguments: ["https://app.example.com", "http://localhost:3000"])
    func `of a configured origin reads its customer's answers`(_ origin: String) async throws {
        try await Self.with { server in
            let answer = try await Self.ask(server, .get, from: origin)
            #expect(answer.status == 200)
            #expect(answer.headers[.accessControlAllowOrigin] == origin)
            #expect(answer.headers[values: .vary].contains("Origin"))
            #expect(
                answer.headers[.accessControlExposeHeaders]?.contains("Ledger-Sequence") == true
            )
            // A refusal can be read too.
            let refused = try await server.send(
                .get,
                "/v1/customers/bob-no-1",
                credential: try server.token(for: "alice-1"),
                headers: [.origin: origin]
            )
            #expect(refused.status == 404)
            #expect(refused.headers[.accessControlAllowOrigin] == origin)
        }
    }

    // The control: of any other, the browser keeps the answer from it.
    @Test(arguments: [
        nil, "null", "https://app.example.com.evil.example", "https://APP.example.com",
        "http://app.example.com", "https://app.example.com:443", "",
    ])
    func `of another origin reads nothing`(_ origin: String?) async throws {
        try await Self.with { server in
            let answer = try await Self.ask(server, .get, from: origin)
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[values: .vary].contains("Origin"))
            let preflight = try await Self.ask(
                server,
                .options,
                from: origin,
                [.accessControlRequestMethod: "POST"]
            )
            #expect(preflight.status == 405)
            #expect(preflight.headers[.accessControlAllowMethods] == nil)
        }
    }

    @Test func `is told before it asks what it may send`() async throws {
        try await Self.with { server in
            let answer = try await Self.ask(
                server,
                .options,
                from: Self.origin,
                [
                    .accessControlRequestMethod: "POST",
                    .accessControlRequestHeaders: "authorization",
                ]
            )
            #expect(answer.status == 204 && answer.body.isEmpty)
            #expect(answer.headers[.accessControlAllowOrigin] == Self.origin)
            #expect(answer.headers[.accessControlAllowMethods] == "GET, HEAD, POST, DELETE")
            #expect(answer.headers[.accessControlAllowHeaders]?.contains("Authorization") == true)
            #expect(answer.headers[.accessControlMaxAge] == "7200")
            // What asks nothing beforehand is no such question.
            let plain = try await Self.ask(server, .options, from: Self.origin)
            #expect(plain.status == 405)
        }
    }

    @Test func `has no say where none is configured`() async throws {
        try await TestServer.with { server in
            let answer = try await Self.ask(server, .get, from: Self.origin)
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            #expect(!answer.headers[values: .vary].contains("Origin"))
        }
    }

    @Test(arguments: [
        "*", "null", "app.example.com", "https://", "https://a/", "https://a/b", "ftp://a",
        "https://A.example", "https://a:", "https://a:99999", "https://a:08", "https://a b",
        "https://a:1:2", "",
    ])
    func `has an origin as browsers write it`(_ text: String) {
        #expect(AllowedOrigins([text]) == nil)
    }
}
