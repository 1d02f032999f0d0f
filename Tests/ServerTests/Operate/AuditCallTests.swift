import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import HTTPTypes
import LedgerAPI
import Synchronization
import Testing

@testable import LedgerServer

/// An audit over HTTP.
struct `An audit over HTTP` {
    @Test(arguments: AuditScope.allCases)
    func `is what the ledger says`(_ scope: AuditScope) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/alice/grants", #"{"tier":"pro"}"#)
            let answer = try await server.send(
                .get,
                "/v1/audit?scope=\(scope)",
                credential: server.keys[.audit]
            )
            #expect(answer.status == 200)
            let told = try server.ledger.auditor.audit(scope)
            #expect(answer.body == AnswerText(told).description)
            #expect(answer.headers[.ledgerSequence] == "2" && told.treeSize == 2)
            #expect(answer.json["ok"]?.bool == true)
            #expect(!answer.body.contains("alice"))
        }
    }

    @Test func `is beside views that are written anew up to where it says`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answer = try await server.send(
                .post,
                "/v1/rebuild",
                credential: server.keys[.admin]
            )
            #expect(answer.status == 200 && answer.json["events"] == .integer(1))
            #expect(answer.headers[.ledgerSequence] == "1")
        }
    }

    @Test func `shows that the log extends a checkpoint, and refuses what is none`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let note = try server.ledger.prover.checkpoint()
            // Clients that encode a query as a form write a space as `+`.
            let form = note.pathSegment.replacing("%20", with: "+")
            let rows = [
                (note.pathSegment, 200), (form, 200), (form + "+", 422), ("nothing", 422),
                (form.replacing("%E2%80%94+", with: "%E2%80%94++"), 422),
            ]
            for (text, status) in rows {
                let path = "/v1/audit?scope=quick&against=\(text)"
                let answer = try await server.get(path, as: .audit)
                #expect(answer.status == status, "\(answer.body)")
                if status == 200 { #expect(answer.json["ok"]?.bool == true) }
            }
        }
    }

    @Test(arguments: [
        ("all=true", 200), ("sample=1", 200), ("sample=0", 400), ("all=true&sample=1", 400),
    ])
    func `folds customers again when it is asked to`(_ query: String, _ status: Int) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/alice-1/grants", #"{"tier":"pro"}"#)
            let answer = try await server.get("/v1/drift?" + query, as: .audit)
            #expect(answer.status == status, "\(answer.body)")
            guard status == 200 else { return }
            #expect(answer.json["customers"] == .integer(1))
            #expect(answer.headers[.ledgerSequence] == "2")
        }
    }

    @Test(arguments: [
        (#"{}"#, 200, "other"), (#"{"customer":"alice-1"}"#, 200, "one"),
        (#"{"customer":"nobody-1"}"#, 200, "none"), (#"{"tokens":[]}"#, 200, "all"),
        (#"{"customer":""}"#, 400, ""), (#"{"tokens":[{"customer":"\u0000"}]}"#, 400, ""),
        (#"{"token":"x"}"#, 400, ""), ("[]", 400, ""), ("{", 400, ""), (#"{"tokens":{}}"#, 400, ""),
    ])
    func `replays what it is asked to`(body: String, status: Int, whom: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for name in ["alice-1", "bob-1"] {
                _ = try await server.post("/v1/customers/\(name)/grants", #"{"tier":"pro"}"#)
            }
            let answer = try await server.post("/v1/replay", body, as: .admin)
            #expect(answer.status == status, "\(answer.body)")
            // Whoever is shown no names may name nobody.
            let auditors = try await server.post("/v1/replay", body, as: .audit)
            #expect(auditors.status == (body.contains("-1") ? 403 : status), "\(auditors.body)")
            guard status == 200 else { return }
            let count = ["one": 1, "none": 0][whom] ?? 2
            #expect(answer.json["ok"]?.bool == true)
            #expect(answer.json["events"] == .integer(3))
            #expect(answer.json["customers"] == .integer(count))
            // An auditor's judges evidence as well.
            #expect((answer.json["evidence"] == .null) == (whom == "other"))
        }
    }

    @Test func `replays a prefix, asks tokens again, and notes whom an auditor looks at`()
        async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            for name in ["alice-1", "bob-1"] {
                _ = try await server.post("/v1/customers/\(name)/grants", #"{"tier":"pro"}"#)
            }
            let shown = try await server.get("/v1/customers/alice-1?at=2026-11-01T00:00:00Z")
            let token = try #require(shown.json["token"]?.string)
            let tokens = #"[{"token":"\#(token)"},{},{"token":"\#(token)","customer":"bob-1"}]"#
            let asked = #"{"customer":"alice-1","tokens":\#(tokens)}"#
            let path = "/v1/replay?knownSequence=1"
            #expect(try await server.post(path, asked, as: .audit).status == 403)
            let named = #"{"tokens":[{"token":"\#(token)","customer":"alice-1"}]}"#
            #expect(try await server.post(path, named, as: .audit).status == 403)
            let key = server.auditorKey
            let answer = try await server.send(
                .post,
                path,
                credential: key,
                headers: [.accessReason: "ticket 12"],
                body: asked
            )
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.json["events"] == .integer(1))
            let found = try #require(answer.json["tokens"])
            let counts = ["same", "malformed", "other_customer", "differs"].map { found[$0] }
            #expect(counts == [.integer(1), .integer(1), .integer(1), .integer(0)])
            #expect(answer.json["ok"]?.bool == false)
            let noted = try await server.noted()
            let looks = noted.map {
                [$0["data"]?["action"]?.string, $0["data"]?["reason"]?.string]
            }
            #expect(looks == [["replayLedger", "ticket 12"], ["replayLedger", "ticket 12"]])
            // Whom a token is held against as well.
            #expect(
                Set(noted.map { $0["subject"]?.string }) == ["customer/alice-1", "customer/bob-1"]
            )
        }
    }

    @Test func `asks so many tokens again as one request may have`() async throws {
        try await TestServer.with { server in
            for (count, status) in [(0, 200), (1, 400)] {
                let tokens = ReplayRequest.tokenLimit + count
                let body =
                    #"{"tokens":["# + Array(repeating: "{}", count: tokens).joined(separator: ",")
                    + "]}"
                let answer = try await server.post("/v1/replay", body, as: .audit)
                #expect(answer.status == status, "\(answer.body.prefix(300))")
            }
        }
    }

    @Test func `refuses a scope that there is not`() async throws {
        try await TestServer.with { server in
            let answer = try await server.send(
                .get,
                "/v1/audit?scope=all",
                credential: server.keys[.audit]
            )
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_value")
        }
    }

    private static let first = AuditAnswer(records: 1)

    @Test func `runs one at a time, and lets the next one in`() async throws {
        let (begins, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let gate = AuditGate { body in
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
            }
        }
        async let first = gate.run {
            begins.signal()
            ends.wait()
            return Self.first
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                begins.wait()
                continuation.resume()
            }
        }
        let refused = await #expect(throws: Problem.self) {
            try await gate.run { AuditAnswer() }
        }
        #expect(refused?.code == .busy)
        ends.signal()
        #expect(try await first == Self.first)
        #expect(try await gate.run { Self.first } == Self.first)
    }
}
