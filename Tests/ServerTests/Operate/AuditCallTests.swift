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
            #expect(answer.json["ok"]?.bool == true)
            #expect(!answer.body.contains("alice"))
        }
    }

    @Test func `shows that the log extends a checkpoint, and refuses what is none`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let note = try server.ledger.prover.checkpoint()
            for (text, status) in [(note, 200), ("nothing", 422)] {
                let path = "/v1/audit?scope=quick&against=\(text.pathSegment)"
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
            if status == 200 { #expect(answer.json["customers"] == .integer(1)) }
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
