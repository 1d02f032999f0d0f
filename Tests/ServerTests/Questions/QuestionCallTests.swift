import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import ModelSupport
import Synchronization
import Testing

@testable import LedgerServer

/// Questions about a customer at T, as known at R.
struct `A question over HTTP` {
    /// A world with a month that was bought, a trial and a use, recorded one hour apart.
    static func fill(_ server: TestServer) async throws {
        try server.publishCatalog()
        let bought = try AppStoreWorld.bought("n1")
        _ = try await server.send(.post, "/v1/signals/app-store", body: bought)
        let customer = "/v1/customers/" + AppStoreWorld.account
        for (path, body) in [
            ("/trials", #"{"trialId":"week"}"#), ("/usage", #"{"featureId":"scan","amount":9}"#),
            ("/grants?environment=sandbox", #"{"tier":"pro"}"#),
        ] {
            server.clock.now = server.clock.now.plus(seconds: 3600)
            let answer = try await server.post(customer + path, body)
            #expect(answer.status == 200, "\(answer.body)")
        }
    }

    private static func points(_ size: UInt64) -> [(query: String, point: BitemporalPoint)] {
        let ats = [
            AppStoreWorld.start.plus(seconds: -1), AppStoreWorld.start, noon, AppStoreWorld.end,
        ]
        return ats.flatMap { at -> [(String, BitemporalPoint)] in
            let query = "?at=\(at)"
            return [
                (query, BitemporalPoint(at: at, knownAt: .everything)),
                (
                    query + "&known=\(noon.plus(seconds: 3600))",
                    BitemporalPoint(at: at, knownAt: .instant(noon.plus(seconds: 3600)))
                ),
            ]
                + (0...size).map {
                    (
                        query + "&knownSequence=\($0)",
                        BitemporalPoint(at: at, knownAt: .sequence($0))
                    )
                }
        }
    }

    // rows Z1, 4.2; T4
    @Test func `is answered byte by byte as the ledger answers it`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await Self.fill(server)
            let size = try server.ledger.questions.size()
            var bodies: Set<String> = []
            for (query, point) in Self.points(size) {
                for world in [StoreEnvironment.production, .sandbox] {
                    let question = CustomerQuestion(
                        customer: AppStoreWorld.customer,
                        environment: world,
                        point: point
                    )
                    let path = "/v1/customers/\(AppStoreWorld.account)"
                    let tail = "\(query)&environment=\(world.name)"
                    let state = try await server.get(path + tail)
                    #expect(
                        state.body == (try server.ledger.questions.show(question).json.description)
                    )
                    #expect(
                        state.headers[.ledgerSequence]
                            == String(state.json["sequence"]?.integer ?? -1)
                    )
                    let timeline = try await server.get(path + "/timeline" + tail)
                    let expected = try server.ledger.questions.timelineAnswer(question).json
                        .description
                    #expect(timeline.body == expected)
                    let purchases = try await server.get(path + "/purchases" + tail)
                    #expect(
                        purchases.body
                            == (try server.ledger.questions.purchases(of: question).json.description)
                    )
                    bodies.insert(state.body)
                }
            }
            // Control: the questions are not all one.
            #expect(bodies.count > 20)
        }
    }

    // rows Z1, 4.2, 4.3
    @Test func `about one feature is answered as in the state`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await Self.fill(server)
            var allowed: Set<Bool> = []
            for (query, _) in Self.points(try server.ledger.questions.size()) + [
                ("", .init(at: noon, knownAt: .everything))
            ] {
                let state = try await server.state(AppStoreWorld.account, query)
                for member in state["features"]?.members ?? [] {
                    let path = "/v1/customers/\(AppStoreWorld.account)/features/\(member.name)"
                    let answer = try await server.get(path + query)
                    #expect(answer.featureState == member.value, "\(query): \(answer.body)")
                    #expect(answer.json["at"] == state["at"])
                    #expect(
                        answer.headers[.ledgerSequence]
                            == state["sequence"]?.integer.map(String.init)
                    )
                    if member.name == "export" {
                        allowed.insert(member.value["allowed"] == .bool(true))
                    }
                }
            }
            #expect(allowed == [true, false])
        }
    }

    // Interfaces: `sequence` is the size of the prefix that an answer was made from.
    @Test(arguments: [true, false])
    func `about one feature says of which prefix it is, whatever is recorded meanwhile`(
        _ isKept: Bool
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let customer = "/v1/customers/wendy-1"
            let path = customer + "/features/export"
            if isKept {
                _ = try await server.post(customer + "/usage", #"{"featureId":"scan","amount":9}"#)
                _ = try await server.get(path)
            }
            let size = try server.ledger.questions.size()
            let appender = try server.ledger.appender
            server.storage.meanwhile(.endWasRead) {
                _ = try appender.grant(
                    "g",
                    to: "wendy-1",
                    features: ["export"],
                    tier: nil,
                    expiresAt: nil,
                    reason: nil,
                    EntitlementLedger.Request(id: "g", source: "support", environment: .production)
                )
            }
            let answer = try await server.get(path)
            let sequence = try #require(answer.json["sequence"]?.integer)
            #expect(answer.headers[.ledgerSequence] == String(sequence))
            let again = try await server.get(path + "?knownSequence=\(sequence)")
            #expect(answer.json["allowed"] == again.json["allowed"], "\(answer.body)")
            // Control: it was recorded, and changes the answer.
            #expect(try server.ledger.questions.size() == size + 1)
            #expect(try await server.has("wendy-1", "export") == true)
            let before = try await server.get(path + "?knownSequence=\(size)")
            #expect(before.json["allowed"] == .bool(false))
        }
    }

    // An event stands in the log a moment before those who answer know of it.
    @Test func `is not answered from what is kept where the log is further`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/wendy-1/grants", #"{"tier":"pro"}"#)
            let (questions, now) = (server.ledger.questions, server.clock.now)
            @Sendable func isMade() throws -> Bool {
                let kept = try questions.cachedAccess(
                    of: "wendy-1",
                    environment: .production,
                    at: now
                )
                let access = try #require(kept)
                return try questions.isMade(access, from: questions.size())
            }
            _ = try await server.get("/v1/customers/wendy-1/features/export")
            // Control.
            #expect(try isMade())
            let found = Mutex<Bool?>(nil)
            server.storage.meanwhile(.batchStands) {
                let made = try isMade()
                found.withLock { $0 = made }
            }
            let more = #"{"features":["export"]}"#
            _ = try await server.post("/v1/customers/wendy-1/grants", more)
            let made = found.withLock { $0 }
            #expect(made == false)
        }
    }

    @Test(arguments: [
        ("?at=yesterday", 400, "invalid_value"), ("?at=2026-01-01T00:00:00", 400, "invalid_value"),
        ("?at=", 400, "invalid_value"), ("?at=99999-01-01", 400, "invalid_value"),
        ("?known=soon", 400, "invalid_value"), ("?knownSequence=-1", 400, "invalid_value"),
        ("?knownSequence=1e3", 400, "invalid_value"),
        ("?knownSequence=99999999999999999999", 400, "invalid_value"),
        ("?knownSequence=18446744073709551615", 422, "unknown_sequence"),
        ("?knownSequence=99", 422, "unknown_sequence"),
        ("?known=2026-01-01&knownSequence=1", 400, "invalid_request"),
        ("?environment=Production", 400, "invalid_value"),
        ("?environment=", 400, "invalid_value"), ("?since=2026-01-01", 400, "unknown_parameter"),
    ])
    func `that is none is refused`(_ query: String, _ status: Int, _ code: String) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await Self.fill(server)
            for path in ["", "/timeline", "/purchases", "/features/scan"] {
                let answer = try await server.get("/v1/customers/mike-1" + path + query)
                #expect(answer.status == status && answer.code == code, "\(path): \(answer.body)")
            }
        }
    }

    @Test(arguments: [
        "?at=now", "?at=2026-01-01", "?at=2026-01-01T00:00:00Z", "?at=2026-01-01t00:00:00.5z",
        "?at=2026-01-01T02:00:00%2B02:00", "?at=2026-01-01T02:00:00+02:00", "?knownSequence=0",
        "?known=now", "?environment=local", "?at=2199-12-31T00:00:00Z",
    ])
    func `may be put in several ways`(_ query: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            #expect(try await server.get("/v1/customers/mike-1" + query).status == 200)
        }
    }

    @Test func `about a feature that the catalog does not list is answered plainly`() async throws {
        try await TestServer.with { server in
            for query in ["", "?at=2026-01-01"] {
                let none = try await server.get("/v1/customers/mike-1/features/scan" + query)
                #expect(none.status == 404 && none.code == "unknown_feature")
            }
            try server.publishCatalog()
            // Control.
            #expect(try await server.get("/v1/customers/mike-1/features/scan").status == 200)
            let other = try await server.get("/v1/customers/mike-1/features/Scan")
            #expect(other.status == 404 && other.code == "unknown_feature")
            let near = try await server.get("/v1/customers/mike-1/features/exprot?at=2026-01-01")
            #expect(near.json["detail"]?.string?.hasSuffix("near it: export") == true)
            // What an earlier catalog lists is no mistake of who asks: it is not open (K1).
            let catalog = #"{"tiers":["free"],"features":[{"id":"scan"}],"products":[]}"#
            let less = try server.ledger.appender.publish(
                try JSONValue(parsing: Array(catalog.utf8)),
                effective: nil,
                EntitlementLedger.Request(id: "less", source: "catalog", environment: .production)
            )
            guard case .appended = less else {
                Issue.record("the other catalog is not published: \(less)")
                return
            }
            for query in ["", "?token=true", "?at=2026-01-01"] {
                let gone = try await server.get("/v1/customers/mike-1/features/export" + query)
                #expect(gone.status == 200 && gone.json["allowed"] == .bool(false), "\(gone.body)")
            }
            #expect(try await server.get("/v1/customers/mike-1/features/Scan").status == 404)
        }
    }

    // row Z2
    @Test(arguments: [
        ("", 400, "missing_field"), ("?feature=exprot", 404, "unknown_feature"),
        ("?feature=export&for=me", 400, "invalid_value"),
        ("?feature=export&lang=fr", 400, "invalid_value"),
        ("?feature=export&at=soon", 400, "invalid_value"),
        ("?feature=export&knownSequence=99", 422, "unknown_sequence"),
        ("?feature=export&why=1", 400, "unknown_parameter"),
    ])
    func `why that is none is refused`(
        _ query: String,
        _ status: Int,
        _ code: String
    )
        async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            let path = "/v1/customers/mike-1/explain"
            let answer = try await server.get(path + query)
            #expect(answer.status == status && answer.code == code, "\(answer.body)")
            if code == "unknown_feature" {
                #expect(answer.json["detail"]?.string?.contains("export") == true)
            }
            // Control: of one who is not known, too.
            let known = try await server.get(path + "?feature=export")
            #expect(known.status == 200 && known.json["allowed"] == .bool(false))
            #expect(known.json["steps"]?.array?.count == 2)
        }
    }

    // row Z2
    @Test func `why is answered as the decision, in the language that is asked for`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await Self.fill(server)
            let path = "/v1/customers/\(AppStoreWorld.account)"
            var summaries: Set<String> = []
            for (query, _) in Self.points(try server.ledger.questions.size()) {
                for member in try await server.state(AppStoreWorld.account, query)["features"]?
                    .members ?? []
                {
                    let why = try await server.get(
                        path + "/explain\(query)&feature=\(member.name)&for=support"
                    )
                    for name in ["allowed", "until", "reason", "sources", "limit"] {
                        #expect(why.json[name] == member.value[name], "\(query): \(why.body)")
                    }
                }
            }
            for (language, wish) in [("en", "fr"), ("ja", "ja, en;q=0.5"), ("zh-Hant", "zh-TW")] {
                let answer = try await server.send(
                    .get,
                    path + "/explain?feature=export&at=2026-01-01",
                    credential: server.keys[.read],
                    headers: [.acceptLanguage: wish]
                )
                #expect(answer.json["language"]?.string == language)
                summaries.insert(answer.json["summary"]?.string ?? "")
            }
            #expect(summaries.count == 3)
        }
    }

    @Test func `about the catalog is answered as it was published`() async throws {
        try await TestServer.with { server in
            let none = try await server.get("/v1/catalog")
            #expect(none.status == 404 && none.code == "not_found")
            try server.publishCatalog()
            let answer = try await server.get("/v1/catalog")
            #expect(answer.json == (try JSONValue(parsing: Array(TestServer.catalog.utf8))))
            #expect(try await server.get("/v1/catalog?knownSequence=0").status == 404)
        }
    }
}

extension TestAnswer {
    /// A feature's answer as it stands in the state.
    var featureState: JSONValue {
        let inState = [
            "allowed", "usable", "refusal", "until", "reason", "sources", "limit",
        ]
        return .object((json.members ?? []).filter { inState.contains($0.name) })
    }
}
