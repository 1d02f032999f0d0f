import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Events that are handed in together over HTTP, so that moving in needs no downtime.
struct `A batch of events` {
    private static func event(
        _ number: Int,
        _ more: KeyValuePairs<String, JSONValue> = [:]
    )
        -> JSONValue
    {
        var members = [
            JSONMember("specversion", "1.0"), JSONMember("id", .string("evt-no-\(number)")),
            JSONMember("source", "legacy"), JSONMember("type", "grant.given"),
            JSONMember("subject", .string("customer/carol-\(number)")),
            JSONMember("time", "2026-01-01T00:00:00Z"), JSONMember("environment", "production"),
            JSONMember(
                "data",
                .members(["grantId": .string("legacy-\(number)"), "tier": "pro"])
            ),
        ]
        for (name, value) in more {
            members.removeAll { $0.name == name }
            members.append(JSONMember(name, value))
        }
        return .object(members)
    }

    private static func send(_ server: TestServer, _ body: String) async throws -> TestAnswer {
        try await server.post("/v1/events", body, as: .admin)
    }

    private static func outcomes(_ answer: TestAnswer) -> [String] {
        (answer.json["items"]?.array ?? []).compactMap { $0["outcome"]?.string }
    }

    // Lines, or an array; the same again appends nothing.
    @Test(arguments: [true, false])
    func `is recorded once`(isArray: Bool) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let events = (0..<5).map { Self.event($0).description }
            let body =
                isArray
                ? "[" + events.joined(separator: ",\n") + "]"
                : events.joined(separator: "\n") + "\n\n"
            let first = try await Self.send(server, body)
            #expect(first.status == 200, "\(first.body)")
            #expect(Self.outcomes(first) == Array(repeating: "appended", count: 5))
            #expect(first.json["appended"]?.integer == 5 && first.json["sequence"]?.integer == 6)
            #expect(first.headers[.ledgerSequence] == "6")
            let again = try await Self.send(server, body)
            #expect(Self.outcomes(again) == Array(repeating: "duplicate", count: 5))
            let items = again.json["items"]?.array ?? []
            #expect(items.compactMap { $0["sequence"]?.integer } == [1, 2, 3, 4, 5])
            let shown = try await server.get("/v1/customers/carol-3")
            #expect(shown.json["tier"]?.string == "pro")
        }
    }

    // What is wrong with one is told of that one, and keeps nobody else out.
    @Test func `says of each what became of it`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let events: [JSONValue] = [
                Self.event(0), Self.event(1, ["type": "nonsense"]),
                Self.event(2, ["data": .members(["tier": "pro"])]),
                Self.event(3, ["time": "yesterday"]), Self.event(4, ["id": ""]),
                // What only the ledger itself records (C6).
                Self.event(5, ["type": "customer.erased", "data": .object([])]),
                Self.event(
                    6,
                    [
                        "type": "access.logged",
                        "data": .members(["actor": "me", "action": "showCustomer"]),
                    ]
                ),
                // K10
                Self.event(
                    7,
                    [
                        "type": "catalog.published", "subject": "catalog",
                        "data": .members(["tiers": .strings(["gold"])]),
                    ]
                ),
                // E1: other content under a known id.
                Self.event(0, ["subject": "customer/mallory-1"]), Self.event(8),
            ]
            let answer = try await Self.send(server, JSONValue.array(events).description)
            let items = answer.json["items"]?.array ?? []
            #expect(
                items.map { $0["code"]?.string }
                    == [
                        nil, "unknown_type", "missing_field", "invalid_value", "invalid_value",
                        "not_permitted", "not_permitted", "invalid_catalog", "conflict", nil,
                    ],
                "\(answer.body)"
            )
            #expect(answer.json["appended"]?.integer == 2 && answer.json["refused"]?.integer == 8)
            #expect(!answer.body.contains("carol") && !answer.body.contains("mallory"))
            let feed = try await server.get("/v1/events", as: .admin)
            #expect(`The feed`.sequences(feed.json) == [0, 1, 2])
        }
    }

    /// Of more values than its length explains: each takes dozens of bytes.
    private static let dense =
        "[" + Array(repeating: "0", count: 30_000).joined(separator: ",") + "]"

    @Test(
        arguments: [
            ("[", 400, "malformed"), ("[1,", 400, "malformed"), ("[]", 200, nil), ("", 200, nil),
            (" \n\n", 200, nil),
            (
                "[" + Array(repeating: "1", count: 10_001).joined(separator: ",") + "]", 400,
                "out_of_range"
            ),
            ("[" + Array(repeating: "[", count: 5000).joined(), 400, "malformed"),
            (Array(repeating: "1", count: 10_001).joined(separator: "\n"), 400, "out_of_range"),
            (dense, 400, "malformed"),
        ] as [(String, Int, String?)]
    )
    func `is refused whole where it is none`(
        _ body: String,
        _ status: Int,
        _ code: String?
    ) async throws {
        try await TestServer.with { server in
            let answer = try await Self.send(server, body)
            #expect(answer.status == status && answer.code == code, "\(answer.body.prefix(300))")
        }
    }

    @Test(arguments: ["1", "{", "null", "[]", "\"text\"", "{\"specversion\":\"1.0\"}"])
    func `has no line that is no event`(_ line: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let good = Self.event(0).description
            let answer = try await Self.send(server, "\(good)\n\(line)\n\(Self.event(1))")
            #expect(Self.outcomes(answer) == ["appended", "refused", "appended"], "\(answer.body)")
        }
    }

    @Test func `has no line of more values than its length explains`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let lines = [Self.event(0).description, #"{"specversion":\#(Self.dense)}"#]
            let answer = try await Self.send(server, lines.joined(separator: "\n"))
            #expect(Self.outcomes(answer) == ["appended", "refused"], "\(answer.body)")
            let detail = answer.json["items"]?.array?.last?["detail"]?.string ?? ""
            #expect(detail.contains("names and values"), "\(detail)")
        }
    }

    @Test(arguments: [
        "application/x-ndjson", "application/ndjson", "application/jsonl",
        "Application/X-NDJSON; charset=utf-8", "application/cloudevents-batch+json",
    ])
    func `comes as lines by any of their names`(_ type: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let headers: HTTPFields = [.contentType: type]
            let lines = "\(Self.event(0))\n\(Self.event(1))\n"
            let taken = try await server.post("/v1/events", lines, as: .admin, headers: headers)
            #expect(Self.outcomes(taken) == ["appended", "appended"], "\(taken.body)")
            // Control: a call that takes no lines takes none of their names.
            guard !type.hasSuffix("+json") else { return }
            let other = try await server.post(
                "/v1/customers/carol-1/grants",
                #"{"tier":"pro"}"#,
                headers: headers
            )
            #expect(other.status == 415 && other.code == "unsupported_media_type")
        }
    }

    // Both scopes: either alone may not say whatever it likes.
    @Test(arguments: [Scope.ingest, .write, .support, .read])
    func `needs both scopes`(scope: Scope) async throws {
        try await TestServer.with { server in
            let answer = try await server.post("/v1/events", "[]", as: scope)
            #expect(answer.status == 403)
        }
    }

    // C2 over HTTP.
    @Test func `may be told of a customer by another name, once the two are linked`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await Self.send(server, Self.event(1).description)
            let before = try await server.get("/v1/customers/device-77")
            #expect(before.json["tier"]?.string == "free")
            let link = #"{"alias":"device-77"}"#
            let linked = try await server.post("/v1/customers/carol-1/links", link)
            #expect(linked.json["outcome"]?.string == "appended", "\(linked.body)")
            let after = try await server.get("/v1/customers/device-77")
            #expect(after.json["tier"]?.string == "pro")
            for body in [#"{}"#, #"{"alias":""}"#, #"{"alias":7}"#, #"{"alias":"x","to":"y"}"#] {
                let refused = try await server.post("/v1/customers/carol-1/links", body)
                #expect((400...422).contains(refused.status), "\(refused.body)")
            }
        }
    }
}
