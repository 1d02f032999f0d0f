import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Testing

@testable import LedgerServer

/// `Ledger-Min-Sequence`: an answer from no less than what the caller has written.
struct `A smallest sequence` {
    private static let paths = [
        "/v1/customers/olga-1", "/v1/customers/olga-1/features/scan",
        "/v1/customers/olga-1/timeline", "/v1/customers/olga-1/purchases", "/v1/catalog",
    ]

    /// The calls that take one.
    private static let taking = RouteTable.routes.filter { route in
        route.parameters.contains { $0.name == "Ledger-Min-Sequence" }
    }

    /// A server that has something to answer each of them with, and a decision token of it.
    private static func with(
        _ body: @escaping @Sendable (TestServer, _ token: String) async throws -> Void
    ) async throws {
        var setup = TestServer.Setup()
        // Nothing is kept there of any product.
        setup.adjust = { $0.products = KeptProducts(ofLedgerAt: "/nowhere") }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/olga-1/grants", #"{"tier":"pro"}"#)
            _ = try server.ledger.prover.checkpoint()
            let token = try await server.state("olga-1")["token"]?.string
            try await body(server, try #require(token))
        }
    }

    /// Calls a route about a customer, or about everybody, by a key that may all.
    private static func call(
        _ route: Route,
        _ minimum: String,
        _ server: TestServer,
        _ token: String
    ) async throws -> TestAnswer {
        let path = route.template.replacing("{id}", with: "olga-1")
            .replacing("{feature}", with: "scan").replacing("{key}", with: "scan")
            .replacing("{token}", with: token).replacing("{sequence}", with: "0")
            .replacing("{size}", with: "1")
        let query =
            switch route.operation {
            case "explainFeature": "?feature=scan"
            case "streamEvents": "?after=0&limit=1"
            default: ""
            }
        let body: String? =
            switch route.operation {
            case "evaluateFlag", "evaluateFlags": #"{"context":{"targetingKey":"olga-1"}}"#
            case "askWhatIf", "compareCatalogs": TestServer.catalog
            case "compareCustomers": #"{"customers":[]}"#
            default: route.body.map { _ in "{}" }
            }
        return try await server.send(
            route.method,
            path + query,
            credential: server.keys[.admin],
            headers: [.ledgerMinSequence: minimum],
            body: body
        )
    }

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

    // Whoever asks with a size goes on with the one that the answer says.
    @Test func `is no more than what an answer says it was made from`() async throws {
        let operations = Set(Self.taking.map(\.operation))
        #expect(
            operations.isSuperset(of: [
                "evaluateFlag", "evaluateFlags", "replayLedger", "streamEvents", "readStatus",
                "auditLedger", "checkDrift", "proveRecord", "proveGrowth", "repeatDecision",
                "listProducts", "beginComparison", "compareCustomers", "exportLog",
            ])
        )
        try await Self.with { server, token in
            let size: UInt64 = 2
            for route in Self.taking {
                let answer = try await Self.call(route, String(size), server, token)
                #expect(answer.status == 200, "\(route.operation): \(answer.body)")
                let told = answer.headers[.ledgerSequence].flatMap { UInt64($0) }
                #expect((told ?? 0) >= size, "\(route.operation)")
            }
            let beyond = try await withThrowingTaskGroup(of: (String, TestAnswer).self) { group in
                for route in Self.taking {
                    group.addTask {
                        let answer = try await Self.call(route, String(size + 1000), server, token)
                        return (route.operation, answer)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (operation, answer) in beyond {
                #expect(answer.status == 503 && answer.code == "behind", "\(operation)")
            }
        }
    }

    @Test func `that is no number is refused wherever one is taken`() async throws {
        try await Self.with { server, token in
            for route in Self.taking {
                let answer = try await Self.call(route, "two", server, token)
                #expect(answer.status == 400, "\(route.operation): \(answer.body)")
                #expect(answer.json["path"] == "Ledger-Min-Sequence", "\(route.operation)")
            }
        }
    }

    // What is proven is what the newest checkpoint signs, which may be less than the log has.
    @Test(arguments: ["/v1/proofs/0", "/v1/consistency/1"])
    func `that no checkpoint signs yet is proven later`(_ path: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try server.ledger.prover.checkpoint()
            _ = try await server.post("/v1/customers/olga-1/grants", #"{"tier":"pro"}"#)
            func proven(_ minimum: String) async throws -> TestAnswer {
                try await server.send(
                    .get,
                    path,
                    credential: server.keys[.audit],
                    headers: [.ledgerMinSequence: minimum]
                )
            }
            #expect(try await proven("1").status == 200)
            let answer = try await proven("2")
            #expect(answer.status == 503 && answer.code == "behind", "\(answer.body)")
            #expect(answer.headers[.retryAfter] == "30")
            _ = try server.ledger.prover.checkpoint()
            #expect(try await proven("2").headers[.ledgerSequence] == "2")
        }
    }

    @Test func `that the log will have soon is waited for`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            async let waiting = Self.get(server, "/v1/customers/olga-1/features/export", "2")
            let given = try await server.post("/v1/customers/olga-1/grants", #"{"tier":"pro"}"#)
            #expect(given.headers[.ledgerSequence] == "2" && given.json["size"] == .integer(2))
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
                #expect(answer.status == 503 && answer.code == "behind")
                #expect(answer.json["retryable"] == .bool(true))
                #expect(answer.headers[.retryAfter] == "1")
            }
        }
    }

    // Several machines: a log that was restored to less and went on has other events there.
    @Test func `of another history is never reached`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/olga-1/grants", #"{"tier":"pro"}"#)
            for size: UInt64 in 0...2 {
                let root = try #require(try server.ledger.questions.rootPrefix(at: size))
                let other = RootPrefix(bits: root.bits ^ 1)
                for path in Self.paths {
                    let same = LogPlace(size: size, root: root).text
                    #expect(try await Self.get(server, path, same).status == 200)
                    let place = LogPlace(size: size, root: other).text
                    let answer = try await Self.get(server, path, place)
                    #expect(answer.status == 409 && answer.code == "other_history")
                    #expect(answer.json["retryable"] == .bool(false))
                    #expect(answer.json["path"] == "Ledger-Min-Sequence")
                }
            }
        }
    }

    @Test func `is described wherever it is taken`() {
        #expect(Self.taking.count > 15)
        for route in Self.taking {
            let isDescribed = route.allProblems.isSuperset(of: [.behind, .otherHistory])
            #expect(isDescribed, "\(route.operation)")
        }
        // The control: nobody is told of it elsewhere.
        let others = RouteTable.routes.filter { $0.allProblems.contains(.behind) }
        #expect(others.count == Self.taking.count)
    }

    @Test func `is what an answer said`() throws {
        let root = try #require(RootPrefix("00ff11ee22dd33cc"))
        for place in [LogPlace(size: 0), LogPlace(size: .max, root: root)] {
            #expect(LogPlace(place.text) == place)
        }
        // RFC 9651, section 4.1.1.2: spaces may stand before a parameter.
        #expect(
            LogPlace("42; root=\"00ff11ee22dd33cc\"") == LogPlace(size: 42, root: root)
        )
        #expect(LogPlace(size: 42, root: root).text == "42;root=\"00ff11ee22dd33cc\"")
    }

    @Test(arguments: [
        "", "-1", "two", "18446744073709551616", "1.0", "1;", "1;root=", "1;root=\"", "1;root=\"\"",
        "1;root=\"00FF11EE22DD33CC\"", "1;root=\"00ff11ee22dd33c\"", "1;root=00ff11ee22dd33cc",
        "1;root=\"00ff11ee22dd33cc\";", "1;other=\"00ff11ee22dd33cc\"",
    ])
    func `that is no number is refused`(_ text: String) async throws {
        try await TestServer.with { server in
            let answer = try await Self.get(server, Self.paths[0], text)
            #expect(answer.status == 400 && answer.code == "invalid_value")
            #expect(answer.json["path"] == "Ledger-Min-Sequence")
        }
    }
}
