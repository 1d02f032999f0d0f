import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import Testing

@testable import LedgerServer

/// One purchase flow of a customer at a time (rows 2.2, 2.4, 10.1).
struct `A purchase flow over HTTP` {
    private static func post(
        _ server: TestServer,
        _ type: String,
        _ flow: String,
        of customer: String = "judy-1",
        key: String? = nil,
        query: String = ""
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        headers[.idempotencyKey] = key
        return try await server.post(
            "/v1/customers/\(customer)/flows\(query)",
            #"{"type":"\#(type)","flowId":"\#(flow)"}"#,
            headers: headers
        )
    }

    // row 2.2
    @Test func `shuts out a second one, for as long as it runs`() async throws {
        try await TestServer.with { server in
            #expect(try await Self.post(server, "started", "flow-1").status == 200)
            let second = try await Self.post(server, "started", "flow-2")
            #expect(second.status == 409 && second.code == "purchase_in_progress")
            #expect(second.json["retryable"] == .bool(true))
            #expect(second.headers[.retryAfter] == "600")
            server.clock.now = noon.plus(seconds: 599)
            let later = try await Self.post(server, "started", "flow-2")
            #expect(later.status == 409 && later.headers[.retryAfter] == "1")
            // Controls: somebody else, and another environment.
            #expect(try await Self.post(server, "started", "flow-2", of: "karl-1").status == 200)
            let sandbox = try await Self.post(
                server,
                "started",
                "flow-2",
                query: "?environment=sandbox"
            )
            #expect(sandbox.status == 200)
            // row 2.2: it expires.
            server.clock.now = noon.plus(seconds: 600)
            #expect(try await Self.post(server, "started", "flow-3").status == 200)
        }
    }

    // row 2.2, C2: what names an alias names its customer
    @Test func `is the same customer's under another name`() async throws {
        try await TestServer.with { server in
            func link(_ alias: String, to customer: String) async throws {
                let body = #"{"alias":"\#(alias)"}"#
                let linked = try await server.post("/v1/customers/\(customer)/links", body)
                #expect(linked.status == 200, "\(linked.body)")
            }
            func post(_ type: String, _ flow: String, of customer: String) async throws -> Int {
                try await Self.post(server, type, flow, of: customer).status
            }
            // The control: before they are linked they are two.
            #expect(try await post("started", "flow-0", of: "anon-1") == 200)
            #expect(try await post("started", "flow-1", of: "judy-1") == 200)
            #expect(try await post("succeeded", "flow-1", of: "judy-1") == 200)
            try await link("anon-1", to: "judy-1")
            // It runs on under the name that it has since.
            #expect(try await post("started", "flow-2", of: "judy-1") == 409)
            #expect(try await post("cancelled", "flow-0", of: "judy-1") == 200)
            #expect(try await post("started", "flow-2", of: "anon-1") == 200)
            #expect(try await post("started", "flow-3", of: "judy-1") == 409)
            #expect(try await post("succeeded", "flow-2", of: "judy-1") == 200)
            // Begun as one and ended as the other it does not run on where a server begins anew.
            let next = LedgerService(server.options)
            try next.takeUpFlows()
            let outcome = next.access.flows.begin(
                "flow-3",
                of: ["anon-1"],
                in: .production,
                at: server.clock.now
            )
            #expect(outcome == .began(until: noon.plus(seconds: 600)))
            try await next.stop()
            #expect(try await post("started", "flow-3", of: "judy-1") == 200)
            #expect(try await post("started", "flow-4", of: "anon-1") == 409)
        }
    }

    // row 2.2; whatever ended the server before it
    @Test func `runs on where a server begins anew`() async throws {
        try await TestServer.with { server in
            let begun = noon.plus(seconds: 5)
            server.clock.now = begun
            #expect(try await Self.post(server, "started", "flow-1").status == 200)
            #expect(try await Self.post(server, "started", "flow-1", of: "karl-1").status == 200)
            #expect(try await Self.post(server, "failed", "flow-1", of: "karl-1").status == 200)
            let next = LedgerService(server.options)
            func begin(_ flow: String, _ customer: CustomerID) -> PurchaseFlowLock.Outcome {
                next.access.flows.begin(flow, of: [customer], in: .production, at: server.clock.now)
            }
            // The control: one that took up nothing shuts nobody out.
            #expect(next.access.flows.flowCount == 0)
            server.clock.now = noon.plus(seconds: 100)
            try next.takeUpFlows()
            let end = begun.plus(seconds: 600)
            #expect(begin("flow-2", "judy-1") == .busy(until: end))
            #expect(begin("flow-1", "judy-1") == .sameFlow(until: end))
            #expect(begin("flow-2", "karl-1") == .began(until: noon.plus(seconds: 700)))
            try await next.stop()
            // What has expired is not taken up.
            server.clock.now = end
            let last = LedgerService(server.options)
            try last.takeUpFlows()
            #expect(last.access.flows.flowCount == 0)
            try await last.stop()
        }
    }

    // rows 2.2, 2.4, 10.1
    @Test(arguments: ["succeeded", "failed", "cancelled", "pending", "restored"])
    func `that has ended lets the next begin`(_ end: String) async throws {
        try await TestServer.with { server in
            #expect(try await Self.post(server, "started", "flow-1").status == 200)
            #expect(try await Self.post(server, "started", "flow-2").status == 409)
            #expect(try await Self.post(server, end, "flow-1").status == 200)
            #expect(try await Self.post(server, "started", "flow-2").status == 200)
            let kinds = try server.events().compactMap { $0["type"]?.string }
            #expect(kinds == ["flow.started", "flow." + end, "flow.started"])
        }
    }

    // row 2.2
    @Test func `of many at once is one`() async throws {
        try await TestServer.with { server in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await Self.post(server, "started", "flow-\(number)").status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(statuses.filter { $0 == 409 }.count == 7)
        }
    }

    // row 2.2, E1
    @Test func `whose start comes again after its end shuts nobody out`() async throws {
        try await TestServer.with { server in
            _ = try await Self.post(server, "started", "flow-1", key: "start-1")
            _ = try await Self.post(server, "succeeded", "flow-1", key: "end-1")
            let again = try await Self.post(server, "started", "flow-1", key: "start-1")
            #expect(again.json["outcome"] == "duplicate")
            #expect(try await Self.post(server, "started", "flow-2").status == 200)
        }
    }

    // row 2.2, E1
    @Test func `whose start comes again while another runs has its first outcome`() async throws {
        try await TestServer.with { server in
            let first = try await Self.post(server, "started", "flow-1", key: "start-1")
            _ = try await Self.post(server, "succeeded", "flow-1", key: "end-1")
            #expect(try await Self.post(server, "started", "flow-2").status == 200)
            let size = try server.ledger.questions.size()
            let again = try await Self.post(server, "started", "flow-1", key: "start-1")
            #expect(again.status == 200 && again.json["outcome"] == "duplicate", "\(again.body)")
            #expect(again.json["sequence"] == first.json["sequence"])
            // Other content under a known key is that key's conflict.
            let other = try await Self.post(server, "started", "flow-3", key: "start-1")
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
            // Control: what runs is shut out by none of it.
            let third = try await Self.post(server, "started", "flow-3", key: "start-3")
            #expect(third.status == 409 && third.code == "purchase_in_progress")
            #expect(try server.ledger.questions.size() == size)
        }
    }

    // row 2.2
    @Test func `whose end was not recorded runs on`() async throws {
        try await TestServer.with { server in
            let begun = try await Self.post(server, "started", "flow-1")
            #expect(begun.status == 200)
            server.storage.fault = .init(.full, "a fault that a test made")
            #expect(try await Self.post(server, "failed", "flow-1", key: "end-1").status == 507)
            server.storage.fault = nil
            #expect(try await Self.post(server, "started", "flow-2").status == 409)
            #expect(try await Self.post(server, "failed", "flow-1", key: "end-1").status == 200)
            #expect(try await Self.post(server, "started", "flow-2").status == 200)
        }
    }

    // row 2.2, E1
    @Test func `that was not recorded shuts nobody out`() async throws {
        try await TestServer.with { server in
            _ = try await Self.post(server, "started", "flow-1", of: "karl-1", key: "start-1")
            let reused = try await Self.post(server, "started", "flow-1", key: "start-1")
            #expect(reused.status == 422)
            server.storage.fault = .init(.full, "a fault that a test made")
            #expect(try await Self.post(server, "started", "flow-2").status == 507)
            server.storage.fault = nil
            #expect(try await Self.post(server, "started", "flow-3").status == 200)
            // Control: what was recorded does.
            #expect(try await Self.post(server, "started", "flow-4").status == 409)
        }
    }

    private static func outcomes(_ answer: TestAnswer) -> [String] {
        #expect(answer.status == 200, "\(answer.body)")
        return (answer.json["items"]?.array ?? []).map {
            $0["code"]?.string ?? $0["outcome"]?.string ?? ""
        }
    }

    // Interfaces, "HTTP": an app hands in at once what it kept while it was offline, and again (E1).
    @Test func `comes in batches, of which each is told of by itself`() async throws {
        try await TestServer.with { server in
            let path = "/v1/customers/judy-1/flows"
            let batch = """
                [{"type":"started","flowId":"flow-1"},{"type":"succeeded","flowId":"flow-1"}]
                """
            for outcome in ["appended", "duplicate"] {
                let answer = try await server.post(
                    path,
                    batch,
                    headers: [.idempotencyKey: "batch-1"]
                )
                #expect(Self.outcomes(answer) == [outcome, outcome])
                #expect(answer.json[outcome] == .integer(2))
                #expect(answer.json["sequence"] == .integer(2))
                #expect(answer.headers[.ledgerSequence] == "2")
            }
            // It has ended, and what is wrong with one holds up no other.
            #expect(try await Self.post(server, "started", "flow-2").status == 200)
            let mixed = """
                [{"type":"begun","flowId":"f"},{"type":"started","flowId":"flow-3"},
                 {"type":"failed","flowId":"flow-2"},7,{"type":"started","flowId":"flow-3"}]
                """
            #expect(
                Self.outcomes(try await server.post(path, mixed)) == [
                    "invalid_value", "purchase_in_progress", "appended", "missing_field",
                    "appended",
                ]
            )
            let kinds = try server.events().compactMap { $0["type"]?.string }
            #expect(
                kinds == [
                    "flow.started", "flow.succeeded", "flow.started", "flow.failed",
                    "flow.started",
                ]
            )
            #expect(Self.outcomes(try await server.post(path, "[]")).isEmpty)
            let flow = #"{"type":"failed","flowId":"f"}"#
            let many = "[" + Array(repeating: flow, count: 501).joined(separator: ",") + "]"
            let refused = try await server.post(path, many)
            #expect(refused.status == 400 && refused.code == "out_of_range")
            #expect(try server.events().count == kinds.count)
        }
    }

    @Test(arguments: [
        (#"{"flowId":"f"}"#, "missing_field"), (#"{"type":"started"}"#, "missing_field"),
        (#"{"type":"begun","flowId":"f"}"#, "invalid_value"),
        (#"{"type":7,"flowId":"f"}"#, "invalid_value"),
        (#"{"type":"started","flowId":"f","errorCode":7}"#, "invalid_value"),
        (#"{"type":"started","flowId":"f","more":1}"#, "unknown_field"),
        (#"{"type":"failed","flowId":"f","stages":{"store":-1}}"#, "out_of_range"),
        ("7", "missing_field"),
    ])
    func `of another form is refused, and begins nothing`(
        _ body: String,
        _ code: String
    ) async throws {
        try await TestServer.with { server in
            let answer = try await server.post("/v1/customers/judy-1/flows", body)
            #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
            #expect(try await Self.post(server, "started", "flow-1").status == 200)
        }
    }
}
