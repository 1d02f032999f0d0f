import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Who comes in to the pages, for how long, and whose forms count (row 9.6).
struct `A session of the pages` {
    private static let path = "/console/customers/alice"

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            try await body(server)
        }
    }

    /// Signs in by the form, as a browser does; nil: it was refused.
    private static func signIn(
        _ server: TestServer,
        _ fields: [(String, String)]
    ) async throws -> PageVisitor? {
        let stranger = PageVisitor(server, secret: "")
        let answer = try await stranger.post("/console/login", fields, token: "")
        guard answer.status == 303 else { return nil }
        let cookie = try #require(answer.headers[.setCookie])
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"))
        let value = cookie.dropFirst("entitle=".count).prefix { $0 != ";" }
        return PageVisitor(server, secret: String(value))
    }

    @Test func `begins with a key that is typed in, and not with another text`() async throws {
        try await Self.with { server in
            let key = try #require(server.keys[.support])
            let visitor = try #require(try await Self.signIn(server, [("key", key)]))
            #expect(try await visitor.get(Self.path).status == 200)
            #expect(try await Self.signIn(server, [("key", "nonsense")]) == nil)
            #expect(try await Self.signIn(server, [("key", "")]) == nil)
            // Whoever is not signed in is sent to where they can be.
            let stranger = try await server.send(.get, Self.path)
            #expect(stranger.status == 303)
            #expect(stranger.headers[.location]?.hasPrefix("/console/login?next=") == true)
        }
    }

    @Test func `begins with a link once, and soon`() async throws {
        try await Self.with { server in
            func code() -> String {
                let link = server.service.access.sessions.makeLink(
                    as: .console,
                    at: server.clock.now
                )
                return String(link.path.drop { $0 != "=" }.dropFirst())
            }
            let used = code()
            let visitor = try #require(try await Self.signIn(server, [("code", used)]))
            #expect(try await visitor.get(Self.path).status == 200)
            #expect(try await Self.signIn(server, [("code", used)]) == nil)
            let late = code()
            server.clock.now = server.clock.now.advanced(byMilliseconds: PageSessions.linkLimit)
            #expect(try await Self.signIn(server, [("code", late)]) == nil)
            // The control: a moment before it still counts.
            let soon = code()
            server.clock.now =
                server.clock.now.advanced(byMilliseconds: PageSessions.linkLimit - 1)
            #expect(try await Self.signIn(server, [("code", soon)]) != nil)
        }
    }

    @Test func `leads on to pages of ours alone`() async throws {
        try await Self.with { server in
            for (next, location) in [
                (Self.path, Self.path), ("https://example.com/", "/console"),
                ("//example.com", "/console"), ("/console/../v1", "/console/../v1"),
                ("/console\\@example.com", "/console"), ("/consoles", "/console"),
            ] {
                let stranger = PageVisitor(server, secret: "")
                let key = try #require(server.keys[.support])
                let answer = try await stranger.post(
                    "/console/login",
                    [("key", key), ("next", next)],
                    token: ""
                )
                #expect(answer.headers[.location] == location, "\(next)")
            }
        }
    }

    @Test func `ends after a day, however much it is used`() async throws {
        try await Self.with { server in
            let key = try #require(server.keys[.support])
            let visitor = try #require(try await Self.signIn(server, [("key", key)]))
            for hour in 1...24 {
                server.clock.now = server.clock.now.advanced(byMilliseconds: 3_600_000)
                let answer = try await visitor.get(Self.path)
                #expect(answer.status == (hour < 24 ? 200 : 303), "hour \(hour)")
            }
        }
    }

    @Test func `ends after twelve hours without a request, by signing out, and with its key`()
        async throws
    {
        try await Self.with { server in
            let key = try #require(server.keys[.support])
            let idle = try #require(try await Self.signIn(server, [("key", key)]))
            let short = PageSessions.idleLimit / 3
            server.clock.now = server.clock.now.advanced(byMilliseconds: short)
            #expect(try await idle.get(Self.path).status == 200)
            server.clock.now =
                server.clock.now.advanced(byMilliseconds: PageSessions.idleLimit - 1)
            #expect(try await idle.get(Self.path).status == 200)
            // Idle for too long, and not yet a day old.
            let next = try #require(try await Self.signIn(server, [("key", key)]))
            server.clock.now = server.clock.now.advanced(byMilliseconds: PageSessions.idleLimit)
            #expect(try await next.get(Self.path).status == 303)

            let leaving = try #require(try await Self.signIn(server, [("key", key)]))
            let staying = try #require(try await Self.signIn(server, [("key", key)]))
            let left = try await leaving.post("/console/logout", [])
            #expect(left.status == 303)
            #expect(left.headers[.setCookie]?.contains("Max-Age=0") == true)
            #expect(try await leaving.get(Self.path).status == 303)
            #expect(try await staying.get(Self.path).status == 200)

            try server.folder.write([APIKey.sample(100, scopes: [.write, .support]).key])
            server.clock.now =
                server.clock.now.advanced(byMilliseconds: KeyRing.lookIntervalMilliseconds)
            #expect(try await staying.get(Self.path).status == 303)
        }
    }

    // Row 9.4: customers sign nobody out who runs the ledger, however many come in.
    @Test func `is not ended by customers who come in`() {
        let sessions = PageSessions(limit: 4, customerLimit: 4)
        let runner = sessions.begin(as: .console, at: noon)
        let customer = sessions.begin(as: .customer(id: "alice"), at: noon)
        for _ in 0..<20 { _ = sessions.begin(as: .customer(id: "bob"), at: noon) }
        #expect(sessions.session(runner, at: noon) != nil)
        // The control: they are not without end.
        #expect(sessions.session(customer, at: noon) == nil)
    }

    // By TLS a neighbour of the host can set a cookie without the prefix, and none with it.
    @Test func `is known by TLS by the name that a neighbour cannot set`() async throws {
        try await Self.with { server in
            let secret = try PageVisitor(server, with: .support).secret
            let names: [(String, HTTPFields, Int)] = [
                ("entitle", [:], 200), ("__Host-entitle", [:], 303),
                ("entitle", [.xForwardedProto: "https"], 303),
                ("__Host-entitle", [.xForwardedProto: "https"], 200),
            ]
            for (name, headers, status) in names {
                var headers = headers
                headers[.cookie] = "\(name)=\(secret)"
                let answer = try await server.send(.get, Self.path, headers: headers)
                #expect(answer.status == status, "\(name) \(headers)")
            }
        }
    }

    @Test func `takes a form from its own pages alone`() async throws {
        try await Self.with { server in
            let visitor = try PageVisitor(server, with: .support)
            let other = try PageVisitor(server, with: .support)
            let foreign: [(String, HTTPFields, String?)] = [
                ("another site", [.secFetchSite: "cross-site"], nil),
                ("a neighbour", [.secFetchSite: "same-site"], nil),
                ("no token", [:], ""),
                ("another session's token", [:], try other.formToken),
                ("a token that is none", [:], "x"),
            ]
            for (name, headers, token) in foreign {
                let answer = try await visitor.post(
                    "/console/logout",
                    [],
                    token: token,
                    headers: headers
                )
                #expect(answer.status == 403, "\(name)")
                #expect(try await visitor.get(Self.path).status == 200, "\(name)")
            }
            // The control: its own page, by what its browser says of it.
            let own = try await visitor.post(
                "/console/logout",
                [],
                headers: [.secFetchSite: "same-origin"]
            )
            #expect(own.status == 303)
            #expect(try await visitor.get(Self.path).status == 303)
        }
    }
}
