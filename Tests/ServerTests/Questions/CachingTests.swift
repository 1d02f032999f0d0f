import Encodings
import Entitlements
import HTTPTypes
import StoreSimulator
import Testing

@testable import LedgerServer

/// What caches are told of an answer (RFC 9111; row Z15).
struct `A cached answer` {
    private static let customer = "/v1/customers/" + AppStoreWorld.account
    private static let paths = [
        "", "/features/export", "/timeline", "/purchases", "/explain?feature=export",
    ]

    private static func maximumAge(_ answer: TestAnswer) throws -> Int64 {
        let control = try #require(answer.headers[.cacheControl])
        let age = control.split(separator: ",").lazy
            .map { $0.drop { $0 == " " } }.first { $0.hasPrefix("max-age=") }
        return try #require(age.flatMap { Int64($0.dropFirst(8)) }, "\(control)")
    }

    /// Seconds for which an answer says that it stands; nil: it does not say.
    private static func standing(_ answer: TestAnswer, at now: Instant) throws -> Int64? {
        guard let stated = answer.json["validUntil"] else { return nil }
        guard !stated.isNull else { return Int64.max }
        let instant = try #require(stated.string.flatMap { Instant(rfc3339: $0) })
        return (instant.milliseconds - now.milliseconds) / 1000
    }

    // RFC 9110, section 8.8.3; Interfaces, "HTTP"
    @Test(arguments: paths)
    func `keeps its tag while only the clock moves`(_ path: String) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            let first = try await server.get(Self.customer + path)
            let tag = try #require(first.headers[.eTag])
            server.clock.now = server.clock.now.plus(seconds: 60)
            let second = try await server.get(Self.customer + path)
            #expect(second.headers[.eTag] == tag)
            // Control: the answer echoes the clock.
            #expect(second.body != first.body)
        }
    }

    @Test(arguments: paths)
    func `gets another tag when it changes`(_ path: String) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            let before = try await server.get(Self.customer + path)
            let revoked = try AppStoreWorld.store().notification(
                "REFUND",
                id: "n2",
                start: AppStoreWorld.start,
                transaction: .members([
                    "revocationDate": .integer(AppStoreWorld.start.plus(seconds: 9).milliseconds),
                    "signedDate": .integer(noon.milliseconds),
                ])
            )
            let answer = try await server.send(
                .post,
                "/v1/signals/app-store",
                body: AppStoreWorld.body(revoked)
            )
            #expect(answer.status == 200)
            let after = try await server.get(Self.customer + path)
            #expect(after.headers[.eTag] != before.headers[.eTag])
        }
    }

    // row Z15
    @Test func `gets another tag when it changes by itself`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            for path in Self.paths where path != "/timeline" {
                server.clock.now = AppStoreWorld.end.plus(seconds: -1)
                let before = try await server.get(Self.customer + path)
                server.clock.now = AppStoreWorld.end
                let after = try await server.get(Self.customer + path)
                #expect(after.headers[.eTag] != before.headers[.eTag], "\(path)")
            }
        }
    }

    // RFC 9110, section 13.1.2
    @Test func `is not sent to whom has it, asked by GET or HEAD`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            let all = Self.paths.map { Self.customer + $0 } + ["/v1/catalog", "/openapi.json"]
            for path in all {
                let first = try await server.get(path)
                let tag = try #require(first.headers[.eTag])
                #expect((first.headers[.ledgerSequence] == nil) == (path == "/openapi.json"))
                let bare = tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
                for method in [HTTPRequest.Method.get, .head] {
                    for known in [tag, bare, "\"other\", \(tag)", "*"] {
                        let answer = try await server.conditional(method, path, known)
                        #expect(answer.status == 304 && answer.body.isEmpty, "\(path) \(known)")
                        for name in [HTTPField.Name.eTag, .cacheControl, .vary, .ledgerSequence] {
                            #expect(answer.headers[name] == first.headers[name])
                        }
                        #expect(answer.headers[.contentType] == nil)
                    }
                    let other = try await server.conditional(method, path, "\"other\"")
                    #expect(other.status == 200 && other.body.isEmpty == (method == .head))
                    #expect(other.headers[.contentLength] == first.headers[.contentLength])
                }
            }
        }
    }

    // row Z15
    @Test func `is never taken beyond the instant at which it changes by itself`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            var instants = 0
            while instants < 12 {
                let now = server.clock.now
                let state = try await server.state(AppStoreWorld.account)
                guard let text = state["validUntil"]?.string,
                    let next = Instant(rfc3339: text)
                else { break }
                instants += 1
                #expect(next > now)
                for left: Int64 in [90_000, 60_000, 59_999, 1_000, 999, 1] {
                    let instant = next.advanced(byMilliseconds: -left)
                    guard instant > server.clock.now else { continue }
                    server.clock.now = instant
                    for path in Self.paths + ["/features/export?at=now", "?known=now"] {
                        let answer = try await server.get(Self.customer + path)
                        let standing = try Self.standing(answer, at: instant)
                        let age = try Self.maximumAge(answer)
                        #expect(age == min(60, standing ?? 0), "\(path) \(left)")
                    }
                    let told = try await server.get(Self.customer)
                    #expect(try Self.maximumAge(told) == min(60, left / 1000))
                    let hot = try await server.get(Self.customer + "/features/export")
                    #expect(try Self.maximumAge(hot) == min(60, left / 1000))
                }
                server.clock.now = next
            }
            #expect(instants > 3)
        }
    }

    @Test func `about a fixed point holds for a minute`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            let just = AppStoreWorld.end.advanced(byMilliseconds: -1)
            for path in Self.paths {
                let more = (path.contains("?") ? "&" : "?") + "at=\(just)"
                let answer = try await server.get(Self.customer + path + more)
                #expect(try Self.maximumAge(answer) == 60)
            }
        }
    }

    @Test func `is private, and differs by who asks`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            for path in Self.paths {
                let answer = try await server.get(Self.customer + path)
                #expect(answer.headers[.cacheControl]?.hasPrefix("private,") == true)
                let vary = answer.headers[.vary] ?? ""
                // Whoever has written since is not given what was kept before (RFC 9111, section 4.1).
                for name in ["Authorization", "Ledger-Min-Sequence"] {
                    #expect(vary.contains(name), "\(vary)")
                }
            }
        }
    }

    @Test func `is none for what appends and for problems`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answers = [
                try await server.post("/v1/customers/nick-1/grants", #"{"tier":"pro"}"#),
                try await server.get("/v1/customers/nick-1/features/nothing"),
                try await server.get("/nowhere"), try await server.send(.get, "/v1/catalog"),
            ]
            #expect(answers.map(\.status) == [200, 404, 404, 401])
            for answer in answers { #expect(answer.headers[.cacheControl] == "no-store") }
        }
    }
}

extension TestServer {
    fileprivate func conditional(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ known: String
    ) async throws -> TestAnswer {
        try await send(
            method,
            path,
            credential: keys[.read],
            headers: [.ifNoneMatch: known]
        )
    }
}
