import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import Testing

@testable import LedgerServer

/// What those who run the server see: figures and log lines that name nobody (law 6).
struct `Metrics and logs` {
    private static func metrics(_ server: TestServer) async throws -> PrometheusReader {
        let answer = try await server.get("/metrics")
        #expect(answer.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        return try PrometheusReader(answer.body)
    }

    // One label that is not escaped, and a scrape reads nothing.
    @Test func `escape a mark that combines with what is behind it`() {
        var text = PrometheusText()
        text.sample("m", [("tier", "vip\"\u{301}\\\u{301}\n")], 1)
        let shown = Array("m{tier=\"vip\\\"\u{301}\\\\\u{301}\\n\"} 1\n".utf8)
        #expect(Array(text.text.utf8) == shown)
    }

    private static func busyDay(_ server: TestServer) async throws {
        try await `A question over HTTP`.fill(server)
        let token = try server.token(for: AppStoreWorld.account)
        let customer = "/v1/customers/" + AppStoreWorld.account
        _ = try await server.send(.get, customer, credential: token)
        _ = try await server.send(.get, "/v1/customers/someone@example.com", credential: token)
        _ = try await server.get("/v1/customers/someone@example.com?someone@example.com=1")
        _ = try await server.get("/someone@example.com")
        _ = try await server.send(.get, customer, credential: APIKey.sample(55).text)
        _ = try await server.post(customer + "/purchases", AppStoreWorld.transaction(1))
        _ = try await server.post("/v1/customers/uma-12/purchases", AppStoreWorld.transaction(1))
        _ = try await server.post(
            customer + "/grants",
            #"{"grantId":"someone@example.com","tier":"pro","reason":"a friend of someone"}"#
        )
        _ = try await server.post(customer + "/grants", #"{"someone@example.com":1}"#)
        _ = try await server.post(customer + "/flows", #"{"type":"someone@example.com"}"#)
        _ = try await server.send(
            .post,
            "/v1/signals/app-store",
            body: AppStoreWorld.body(RefusedSignal.content[0].make(AppStoreWorld.store()))
        )
        server.storage.fault = .init(.unreadable, "a fault that a test made")
        _ = try await server.post(customer + "/grants", #"{"grantId":"goodwill-1","tier":"pro"}"#)
        server.storage.fault = nil
        var headers = HTTPFields()
        headers[.userAgent] = "someone@example.com"
        headers[.idempotencyKey] = "someone@example.com"
        _ = try await server.post(customer + "/trials", "{}", headers: headers)
    }

    // law 6
    @Test func `say what happened and to nobody whom`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            server.audit.add(name: "someone@example.com")
            server.audit.add(name: "a friend of")
            try await Self.busyDay(server)
            _ = try await Self.metrics(server)
            let text = try await server.get("/metrics").body
            #expect(LogLines.names(in: text, among: server.audit.names) == [])
            // That the lines name nobody is held at the end of each test; here are some to hold.
            #expect(server.log.all.count > 15)
            #expect(server.log.all.contains { $0.contains(#""level":"error""#) })
            #expect(server.log.all.allSatisfy { $0.contains(#""requestId":"r-"#) })
            #expect(server.audit.names.count > 10)
        }
    }

    // law 6; control
    @Test(arguments: [
        #"{"message":"request","customer":"5b3f9a52-6c0e-4c5e-9a5e-0d4c2a7f1b90"}"#,
        #"{"message":"2000000100000001 was refused"}"#, "Bearer webhook-secret",
    ])
    func `that name somebody are found`(_ line: String) {
        #expect(LogLines.names(in: line, among: AnswerAudit().names).count == 1)
    }

    // Nobody fills the log by asking again.
    @Test func `tell of a fault once, and of what is none not at all`() async throws {
        try await TestServer.with { server in
            func complaints() -> [String] {
                server.log.all.filter { $0.contains(#""level":"error""#) || $0.contains("warning") }
            }
            for _ in 0..<5 {
                for path in ["/v1/signals/revenuecat", "/v1/signals/app-store", "/nowhere"] {
                    _ = try await server.send(.post, path, body: "{")
                }
                _ = try await server.send(.get, "/v1/catalog", credential: "nonsense")
            }
            #expect(complaints() == [])
            server.storage.fault = .init(.unreadable, "a fault that a test made")
            let grants = "/v1/customers/zoe-1234/grants"
            for _ in 0..<5 {
                #expect(try await server.post(grants, #"{"tier":"pro"}"#).status == 500)
            }
            server.storage.fault = nil
            #expect(complaints().count == 1)
        }
    }

    // What keeps the ledger from appending is for whoever runs it to mend.
    @Test(arguments: [LedgerFault.Code.clockBehind, .clockAhead])
    func `tell of a clock that is not believed`(_ code: LedgerFault.Code) async throws {
        var setup = TestServer.Setup()
        setup.audit = { _, _, _ in throw LedgerFault(code, "a fault that a test made") }
        try await TestServer.with(setup) { server in
            for _ in 0..<3 {
                let answer = try await server.get("/v1/audit", as: .audit)
                #expect(answer.status == 503 && answer.code == code.rawValue)
            }
            let told = server.log.all.filter { $0.contains(#""level":"error""#) }
            #expect(told.count == 1 && told[0].contains(code.rawValue))
        }
    }

    @Test func `count what was answered`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try await Self.busyDay(server)
            let metrics = try await Self.metrics(server)
            func value(_ name: String, _ labels: [String: String]) -> Double? {
                metrics.families.flatMap(\.samples)
                    .first { $0.name == name && $0.labels == labels }?.value
            }
            let requests = "entitle_requests_total"
            #expect(value(requests, ["operation": "showCustomer", "status": "200"]) == 1)
            #expect(value(requests, ["operation": "showCustomer", "status": "404"]) == 1)
            #expect(value(requests, ["operation": "none", "status": "404"]) == 1)
            #expect(value(requests, ["operation": "grant", "status": "500"]) == 1)
            let signals = "entitle_signals_total"
            let taken = ["store": "app_store", "outcome": "appended"]
            #expect(value(signals, taken) == 1)
            #expect(value(signals, ["store": "app_store", "outcome": "wrong_bundle"]) == 1)
            #expect(value("entitle_refused_credentials_total", ["reason": "unknown_key"]) == 1)
            let size = try server.ledger.questions.size()
            #expect(value("entitle_ledger_sequence", [:]) == Double(size))
            let count = "entitle_request_duration_seconds_count"
            #expect(value(count, ["operation": "grant"]) == 4)
        }
    }

    @Test(arguments: [
        "# TYPE a counter\na 1\n", "# HELP a b\n# TYPE a counter\nb 1\n",
        "# HELP a b\n# TYPE a counter\na 1", "# HELP a b\n# TYPE a counter\na one\n",
        "# HELP a b\n# TYPE a counter\na 1\na 1\n", "# HELP a b\n# TYPE a counter\na{b=c} 1\n",
        "# HELP a b\n# TYPE a counter\na{b=\"\\x\"} 1\n",
        "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\n",
        "# HELP a b\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 2\n", "a 1\n", "\n",
    ])
    func `of another format are found`(_ text: String) {
        #expect(throws: PrometheusReader.Fault.self) { try PrometheusReader(text) }
    }
}
