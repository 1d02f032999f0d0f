import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// The log as CloudEvents over HTTP (rows 8.5, 10.1).
struct `The feed` {
    static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for number in 0..<12 {
                let customer = number.isMultiple(of: 3) ? "alice-1" : "bob-no-\(number)"
                let answer = try await server.post(
                    "/v1/customers/\(customer)/grants",
                    #"{"tier":"pro","grantId":"grant-\#(number)","reason":"they asked me"}"#
                )
                #expect(answer.status == 200, "\(answer.body)")
            }
            try await body(server)
        }
    }

    static func sequences(_ events: JSONValue) -> [UInt64] {
        (events.array ?? []).compactMap { $0["sequence"]?.string.flatMap { UInt64($0) } }
    }

    private static func next(_ answer: TestAnswer) -> String? {
        guard let link = answer.headers[.link], link.hasSuffix(#">; rel="next""#) else {
            return nil
        }
        return String(link.dropFirst().prefix { $0 != ">" })
    }

    @Test(arguments: [1, 3, 13, 1000])
    func `goes page by page through all events, each once, as the command prints them`(
        limit: Int
    ) async throws {
        try await Self.with { server in
            var expected: [String] = []
            let all = EventFilter(sequences: 0..<UInt64.max)
            try server.ledger.questions.events(all) { _, event in
                expected.append(event.description)
                return true
            }
            var found: [String] = []
            var query: String? = "?limit=\(limit)"
            while let asked = query {
                let page = try await server.get("/v1/events" + asked, as: .admin)
                #expect(page.status == 200, "\(page.body)")
                #expect(page.headers[.contentType] == "application/cloudevents-batch+json")
                #expect(page.headers[.ledgerSequence] == "13")
                let events = page.json.array ?? []
                #expect(events.count <= limit)
                found += events.map(\.description)
                query = Self.next(page)
            }
            #expect(found == expected && found.count == 13)
        }
    }

    @Test func `has no page behind the last event that is asked for`() async throws {
        try await Self.with { server in
            let part = try await server.get("/v1/events?limit=2&to=4", as: .read)
            #expect(Self.next(part) == "?after=1&limit=2&to=4")
            let whole = try await server.get("/v1/events?after=1&limit=2&to=4", as: .read)
            #expect(Self.sequences(whole.json) == [2, 3] && Self.next(whole) == nil)
        }
    }

    @Test func `shows payloads to whoever may see everything`() async throws {
        try await Self.with { server in
            let shown = try await server.get("/v1/events?limit=1&raw=true", as: .admin)
            #expect(shown.json.array?.first?["evidence"] == .null)
            for scope in [Scope.read, .audit] {
                let refused = try await server.get("/v1/events?raw=true", as: scope)
                #expect(refused.status == 403)
            }
        }
    }

    static let filters: [(String, [UInt64])] = [
        ("customer=alice-1", [1, 4, 7, 10]), ("customer=alice-1&after=4", [7, 10]),
        ("customer=alice-1&limit=2", [1, 4]), ("customer=nobody-1", []),
        ("type=catalog.published", [0]), ("type=grant.given&after=10", [11, 12]),
        ("source=support&after=9", [10, 11, 12]), ("source=revenuecat", []),
        ("environment=sandbox", [0]), ("environment=production&after=11", [12]),
        ("purchase=app_store%2F1", []), ("after=12", []),
        ("to=3", [0, 1, 2]), ("after=9&to=12", [10, 11]), ("after=9&to=3", []),
        ("since=2199-01-01", []), ("until=2001-01-01", []),
        ("since=2001-01-01&until=2199-01-01&to=2", [0, 1]),
    ]

    @Test(arguments: filters)
    func `lets through what is asked for`(_ query: String, _ expected: [UInt64]) async throws {
        try await Self.with { server in
            let answer = try await server.get("/v1/events?" + query, as: .read)
            #expect(Self.sequences(answer.json) == expected, "\(answer.body)")
        }
    }

    @Test func `of one customer is theirs alone, and support's look is noted`() async throws {
        try await Self.with { server in
            let answer = try await server.get("/v1/customers/alice-1/events", as: .support)
            #expect(Self.sequences(answer.json) == [1, 4, 7, 10])
            let sandbox = try await server.get(
                "/v1/customers/alice-1/events?environment=sandbox",
                as: .support
            )
            #expect(Self.sequences(sandbox.json) == [])
            _ = try await server.get("/v1/events?customer=alice-1", as: .support)
            try await server.service.accesses.stop()
            let noted = try await server.get("/v1/events?type=access.logged", as: .admin)
            let actions = (noted.json.array ?? []).compactMap { $0["data"]?["action"]?.string }
            // Not in the sandbox, which knows nobody of this id.
            #expect(actions.sorted() == ["listCustomerEvents", "listEvents"])
        }
    }

    // Without an environment all of a customer's events are shown, and the look is noted where they are.
    @Test func `notes a look at whom the sandbox alone knows`() async throws {
        try await Self.with { server in
            let granted = try await server.post(
                "/v1/customers/sandy-1/grants?environment=sandbox",
                #"{"tier":"pro"}"#
            )
            #expect(granted.status == 200, "\(granted.body)")
            let shown = try await server.get("/v1/events?customer=sandy-1", as: .support)
            #expect(Self.sequences(shown.json).contains(13))
            let noted = try await server.noted(of: "sandy-1")
            #expect(noted.map { $0["data"]?["action"] } == ["listEvents"])
            #expect(noted.map { $0["environment"] } == ["sandbox"])
        }
    }

    // Redaction by scope: each credential with its eyes.
    @Test func `shows each key what it may see`() async throws {
        try await Self.with { server in
            let bought = try await server.post("/v1/events", Self.purchase, as: .admin)
            #expect(bought.json["appended"]?.integer == 1, "\(bought.body)")
            _ = try await server.get("/v1/customers/alice-1/events", as: .support)
            try await server.service.accesses.stop()
            let administrator = try await server.get("/v1/events", as: .admin)
            #expect(administrator.body.contains("they asked me"))
            #expect(administrator.body.contains("alice-1"))
            #expect(administrator.body.contains("access.logged"))
            let application = try await server.get("/v1/events", as: .read)
            #expect(application.body.contains("alice-1"))
            #expect(!application.body.contains("they asked me"))
            #expect(!application.body.contains("access.logged"))
            #expect(Self.sequences(application.json).count == 14)
            let auditor = try await server.get("/v1/events", as: .audit)
            #expect(Self.sequences(auditor.json).count == 15)
            let events = auditor.json.array ?? []
            #expect(events.allSatisfy { $0["id"]?.string != nil && $0["source"]?.string != nil })
            for name in [
                "alice-1", "bob-no-1", "they asked me", "grant-0", "2000000777", "evt-bought",
            ] {
                #expect(administrator.body.contains(name), "the control: \(name)")
                #expect(!auditor.body.contains(name), "\(name)")
            }
            // Nor which number is whose.
            for query in ["customer=alice-1", "purchase=app_store%2F1"] {
                #expect(try await server.get("/v1/events?" + query, as: .audit).status == 403)
            }
            // What support sees of somebody is noted with that customer.
            #expect(try await server.get("/v1/events", as: .support).status == 403)
            let support = try await server.get("/v1/events?customer=alice-1", as: .support)
            #expect(support.body.contains("they asked me"))
        }
    }

    private static let purchase = """
        {"specversion":"1.0","id":"evt-bought","source":"app_store","type":"purchase.completed",\
        "subject":"purchase/app_store/2000000777","time":"2026-01-05T09:00:00.000Z",\
        "data":{"transactionId":"2000000777","productId":"com.example.app.pro.month",\
        "productKind":"auto_renewable","expiresAt":"2026-02-05T09:00:00.000Z"}}
        """

    static let faults: [(String, String, String)] = [
        ("after=13", "unknown_sequence", "after"),
        ("after=18446744073709551615", "unknown_sequence", "after"),
        ("after=-1", "invalid_value", "after"), ("after=x", "invalid_value", "after"),
        ("limit=0", "invalid_value", "limit"), ("limit=1001", "invalid_value", "limit"),
        ("limit=-1", "invalid_value", "limit"), ("type=nonsense", "invalid_value", "type"),
        ("purchase=nonsense", "invalid_value", "purchase"),
        ("customer=", "invalid_value", "customer"),
        ("environment=mars", "invalid_value", "environment"),
    ]

    @Test(arguments: faults)
    func `says what is wrong with a question`(
        _ query: String,
        _ code: String,
        _ path: String
    ) async throws {
        try await Self.with { server in
            // A stream may be as long as one likes.
            let calls = ["/v1/events?"] + (query == "limit=1001" ? [] : ["/v1/events/stream?"])
            for call in calls {
                let answer = try await server.get(call + query, as: .admin)
                #expect(answer.code == code && answer.json["path"]?.string == path, "\(answer)")
            }
        }
    }

    // Nobody is sent a gap without being told: an id that this log never had is no place in it.
    @Test(arguments: [
        ("13", "unknown_sequence"), ("-1", "invalid_value"), ("x", "invalid_value"),
        ("", "invalid_value"), ("99999999999999999999", "invalid_value"),
    ])
    func `does not go on behind an event that it does not have`(
        _ last: String,
        _ code: String
    ) async throws {
        try await Self.with { server in
            let answer = try await server.send(
                .get,
                "/v1/events/stream",
                credential: server.keys[.admin],
                headers: [.lastEventID: last]
            )
            #expect(answer.code == code && answer.json["path"]?.string == "Last-Event-ID")
        }
    }
}
