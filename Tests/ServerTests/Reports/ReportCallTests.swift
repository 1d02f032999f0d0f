import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import Presentation
import Testing

@testable import LedgerServer

/// Reports over HTTP (rows 10.1 to 10.6).
struct `A report over HTTP` {
    private static func path(_ kind: ReportKind) -> String { "/v1/reports/" + kind.rawValue }

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/alice/grants", #"{"tier":"pro"}"#)
            for (type, more) in [
                ("started", ""),
                ("failed", #","errorCode":"NETWORK_ERROR","stages":{"store":6000}"#),
            ] {
                let answer = try await server.post(
                    "/v1/customers/alice/flows",
                    #"{"type":"\#(type)","flowId":"flow-1","platform":"ios"\#(more)}"#
                )
                #expect(answer.status == 200)
            }
            try await body(server)
        }
    }

    // row 10.6
    @Test(arguments: ReportKind.allCases)
    func `is what the ledger says`(_ kind: ReportKind) async throws {
        try await Self.with { server in
            let answer = try await server.get(Self.path(kind))
            #expect(answer.status == 200)
            #expect(answer.headers[.ledgerSequence] == String(try server.ledger.questions.size()))
            let report = try server.ledger.reports.report(
                ReportQuestion(
                    kind,
                    environment: .production,
                    point: BitemporalPoint(at: server.clock.now, knownAt: .everything)
                )
            )
            #expect(answer.body == report.jsonText.description)
            // Nobody is named.
            #expect(!answer.body.contains("alice"))
            // As a table it is another representation, with a tag of its own.
            let sheet = try await server.send(
                .get,
                Self.path(kind),
                credential: server.keys[.read],
                headers: [.accept: "text/csv"]
            )
            #expect(sheet.status == 200 && sheet.headers[.contentType] == "text/csv")
            #expect(sheet.body == report.csv)
            #expect(sheet.headers[.eTag] != answer.headers[.eTag])
        }
    }

    // rows 10.1, 10.4, 10.5; K7
    @Test func `counts customers, flows, stages and errors`() async throws {
        try await Self.with { server in
            func row(_ path: String, _ table: String = "rows") async throws -> JSONValue {
                try await server.get(path).json[table]?.array?.first ?? .null
            }
            let tier = try await row("/v1/reports/customers", "tiers")
            #expect(tier["tier"] == "pro" && tier["customers"] == .integer(1))
            let flow = try await row("/v1/reports/funnel")
            #expect(flow["started"] == .integer(1) && flow["failed"] == .integer(1))
            let stage = try await row("/v1/reports/stages?thresholds=5999")
            #expect(stage["p95"] == .integer(6000) && stage["isSlow"] == .bool(true))
            let fast = try await row("/v1/reports/stages?thresholds=1,store:6000")
            #expect(fast["isSlow"] == .bool(false))
            let error = try await row("/v1/reports/errors?minimumCount=1")
            #expect(error["code"] == "NETWORK_ERROR" && error["recent"] == .integer(1))
            let none = try await row("/v1/reports/errors?to=2001-01-01&environment=production")
            #expect(none["count"] == .integer(0))
        }
    }

    // rows B7, PL5: as the app's library names an experiment on all that it tells of a flow
    @Test func `says who saw an experiment, and bought`() async throws {
        try await TestServer.with { server in
            for type in ["started", "succeeded"] {
                let told = try await server.post(
                    "/v1/customers/alice/flows",
                    #"{"type":"\#(type)","flowId":"flow-1","experiment":"order/coffee-first"}"#
                )
                #expect(told.status == 200, "\(told.body)")
            }
            let rows = try await server.get(Self.path(.experiments)).json["rows"]?.array ?? []
            #expect(rows.count == 1)
            #expect(rows.first?["experiment"] == "order")
            #expect(rows.first?["variant"] == "coffee-first")
            #expect(rows.first?["exposures"] == .integer(1))
            #expect(rows.first?["conversions"] == .integer(1))
        }
    }

    @Test func `is not sent again to whoever has it`() async throws {
        try await Self.with { server in
            let first = try await server.get("/v1/reports/funnel")
            var headers = HTTPFields()
            headers[.ifNoneMatch] = first.headers[.eTag]
            let again = try await server.send(
                .get,
                "/v1/reports/funnel",
                credential: server.keys[.read],
                headers: headers
            )
            #expect(again.status == 304)
            _ = try await server.post(
                "/v1/customers/bob/flows",
                #"{"type":"started","flowId":"flow-2"}"#
            )
            let changed = try await server.send(
                .get,
                "/v1/reports/funnel",
                credential: server.keys[.read],
                headers: headers
            )
            #expect(changed.status == 200)
        }
    }

    @Test(arguments: [
        ("revenue?from=soon", "invalid_value"), ("revenue?to=7", "invalid_value"),
        ("revenue?thresholds=5", "unknown_parameter"), ("stages?thresholds=fast", "invalid_value"),
        ("errors?windowMinutes=0", "out_of_range"), ("errors?windowMinutes=x", "invalid_value"),
        ("errors?baselineWindows=9223372036854775807", "out_of_range"),
        ("errors?minimumCount=-1", "out_of_range"), ("funnel?environment=moon", "invalid_value"),
        ("funnel?known=2026-01-01&knownSequence=1", "invalid_request"),
    ])
    func `that cannot be understood is refused`(_ path: String, _ code: String) async throws {
        try await TestServer.with { server in
            let answer = try await server.get("/v1/reports/" + path)
            #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
        }
    }

    @Test func `of more than the log holds, or of none that there is, is refused`() async throws {
        try await TestServer.with { server in
            let beyond = try await server.get("/v1/reports/revenue?knownSequence=7")
            #expect(beyond.code == "unknown_sequence")
            #expect(try await server.get("/v1/reports/profit").status == 404)
        }
    }

    // Of many at once all are answered, or asked to come again; none is lost.
    @Test func `waits for its turn`() async throws {
        try await Self.with { server in
            let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await server.get("/v1/reports/customers") }
                }
                return try await group.reduce(into: [TestAnswer]()) { $0.append($1) }
            }
            #expect(answers.contains { $0.status == 200 })
            for answer in answers where answer.status != 200 {
                #expect(answer.status == 503 && answer.code == "busy")
                #expect(answer.headers[.retryAfter] != nil)
            }
            #expect(try await server.get("/v1/reports/customers").status == 200)
        }
    }
}
