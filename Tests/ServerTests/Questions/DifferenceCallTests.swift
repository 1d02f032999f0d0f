import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation
import Testing

@testable import LedgerServer

/// What changed for a customer, asked over HTTP.
struct `A difference over HTTP` {
    private static let path = "/v1/customers/" + AppStoreWorld.account + "/diff"

    // row Z1
    @Test func `is what the ledger says, byte by byte`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            let size = try server.ledger.questions.size()
            let (start, end) = (AppStoreWorld.start.plus(seconds: -1), AppStoreWorld.end)
            let rows: [(String, BitemporalPoint, BitemporalPoint)] = [
                (
                    "?at=\(start)&toAt=\(noon)", BitemporalPoint(at: start, knownAt: .everything),
                    BitemporalPoint(at: noon, knownAt: .everything)
                ),
                (
                    "?at=\(noon)&knownSequence=1",
                    BitemporalPoint(at: noon, knownAt: .sequence(1)),
                    BitemporalPoint(at: noon, knownAt: .everything)
                ),
                (
                    "?at=\(end)&known=\(noon)&toKnownSequence=\(size)",
                    BitemporalPoint(at: end, knownAt: .instant(noon)),
                    BitemporalPoint(at: end, knownAt: .sequence(size))
                ),
            ]
            var bodies: Set<String> = []
            for (query, from, to) in rows {
                let answer = try await server.get(Self.path + query)
                let expected = try server.ledger.questions.difference(
                    DifferenceQuestion(
                        customer: AppStoreWorld.customer,
                        environment: .production,
                        from: from,
                        to: to
                    )
                )
                #expect(answer.status == 200 && answer.body == expected.text.description)
                #expect(answer.headers[.ledgerSequence] == String(size))
                bodies.insert(answer.body)
                let again = try await server.send(
                    .get,
                    Self.path + query,
                    credential: server.keys[.read],
                    headers: [.ifNoneMatch: answer.headers[.eTag] ?? ""]
                )
                #expect(again.status == 304)
            }
            #expect(bodies.count == rows.count)
        }
    }

    // Interfaces: a tag is made of an answer without the instant that it echoes, and the size beside it.
    @Test(arguments: ["", "?knownSequence=1"])
    func `is not sent again while only the clock moves, and what is recorded of others`(
        _ query: String
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            let first = try await server.get(Self.path + query)
            let tag = try #require(first.headers[.eTag])
            func again() async throws -> TestAnswer {
                try await server.send(
                    .get,
                    Self.path + query,
                    credential: server.keys[.read],
                    headers: [.ifNoneMatch: tag]
                )
            }
            server.clock.now = server.clock.now.plus(seconds: 60)
            _ = try await server.post("/v1/customers/zoe-1/grants", #"{"tier":"pro"}"#)
            let same = try await again()
            #expect(same.status == 304 && same.body.isEmpty && same.headers[.eTag] == tag)
            // Controls: the answer echoes both, and another one is sent.
            let second = try await server.get(Self.path + query)
            #expect(second.headers[.eTag] == tag && second.body != first.body)
            let grants = "/v1/customers/\(AppStoreWorld.account)/grants"
            _ = try await server.post(grants, #"{"features":["export"]}"#)
            #expect(try await again().status == (query.isEmpty ? 304 : 200))
        }
    }

    @Test(arguments: [
        ("?toAt=soon", 400, "invalid_value"), ("?toKnown=x", 400, "invalid_value"),
        ("?toKnown=2026-01-01&toKnownSequence=1", 400, "invalid_request"),
        ("?toKnownSequence=-1", 400, "invalid_value"),
        ("?toKnownSequence=99", 422, "unknown_sequence"), ("?from=1", 400, "unknown_parameter"),
        ("?toAt=now&toAt=now", 400, "invalid_request"),
    ])
    func `between what is no point is refused`(
        _ query: String,
        _ status: Int,
        _ code: String
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answer = try await server.get("/v1/customers/mike-1/diff" + query)
            #expect(answer.status == status && answer.code == code, "\(answer.body)")
            // Control.
            #expect(try await server.get("/v1/customers/mike-1/diff").status == 200)
        }
    }
}

/// A timeline, drawn for whom prefers that.
struct `A drawing over HTTP` {
    private static let path = "/v1/customers/" + AppStoreWorld.account + "/timeline"

    @Test(arguments: [
        (nil, false), ("*/*", false), ("application/json", false), ("image/svg+xml", true),
        ("image/svg+xml, application/json", false),
        ("application/json;q=0.5, image/svg+xml;q=0.9", true),
        ("image/avif,image/webp,image/*,*/*;q=0.8", true), ("image/svg+xml;q=0, */*", false),
        ("text/html,*/*;q=0.5", false), ("image/svg+xml;q=00000000", false),
        ("IMAGE/SVG+XML ; Q=1", true), (";;q=,,", false), ("image/svg+xml;q=2000", false),
    ])
    func `is sent to whom rather has it than JSON`(_ accept: String?, _ isDrawn: Bool) async throws
    {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            var headers = HTTPFields()
            headers[.accept] = accept
            let answer = try await server.send(
                .get,
                Self.path,
                credential: server.keys[.read],
                headers: headers
            )
            let type = answer.headers[.contentType]
            #expect(answer.status == 200)
            #expect(type == (isDrawn ? "image/svg+xml" : "application/json"))
            #expect(answer.body.hasPrefix(isDrawn ? "<svg" : "{"))
            // Caches hold the two apart.
            #expect(answer.headers[.vary]?.contains("Accept,") ?? false)
        }
    }

    @Test func `has a tag of its own and is not sent twice`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await `A question over HTTP`.fill(server)
            let credential = server.keys[.read]
            let json = try await server.get(Self.path)
            var headers: HTTPFields = [.accept: "image/svg+xml"]
            let svg = try await server.send(
                .get,
                Self.path,
                credential: credential,
                headers: headers
            )
            let tag = try #require(svg.headers[.eTag])
            #expect(tag != json.headers[.eTag])
            let drawn = TimelineChart(try TimelineAnswer.fields.read(json.json)).svg
            #expect(svg.body == drawn)
            headers[.ifNoneMatch] = tag
            let again = try await server.send(
                .get,
                Self.path,
                credential: credential,
                headers: headers
            )
            #expect(again.status == 304 && again.body.isEmpty)
        }
    }
}
