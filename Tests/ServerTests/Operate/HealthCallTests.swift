import Encodings
import Entitlements
import EventLog
import HTTPTypes
import Testing

@testable import LedgerServer

/// What those who watch the server are told, and strangers are not.
struct `A health check` {
    private static let strangers: [Scope?] = [nil, .ingest, .write, .support, .audit]

    @Test(arguments: [false, true])
    func `says why to whom it concerns, and to strangers nothing`(_ isBroken: Bool) async throws {
        try await TestServer.with { server in
            if isBroken { server.storage.endFault = .init(.unreadable, "a fault that a test made") }
            let status = isBroken ? 503 : 200
            for scope in Self.strangers {
                let answer = try await server.send(
                    .get,
                    "/readyz",
                    credential: scope.flatMap { server.keys[$0] }
                )
                #expect(answer.status == status && answer.body.isEmpty, "\(answer)")
                #expect(answer.headers[.ledgerSequence] == nil)
            }
            for scope in [Scope.metrics, .read, .admin] {
                let answer = try await server.get("/readyz", as: scope)
                #expect(answer.status == status)
                #expect(answer.json["reasons"]?.array == (isBroken ? ["storage"] : []))
                #expect((answer.headers[.ledgerSequence] == nil) == isBroken)
            }
            server.storage.endFault = nil
        }
    }

    @Test func `opens nothing else to its scope`() async throws {
        try await TestServer.with { server in
            let figures = try await server.get("/metrics", as: .metrics)
            #expect(figures.status == 200)
            for path in ["/v1/customers/wilma-1", "/v1/catalog", "/checkpoint", "/v1/audit"] {
                #expect(try await server.get(path, as: .metrics).code == "forbidden")
            }
        }
    }

    // row 9.6
    @Test func `has no quota, whoever else asks from its address`() async throws {
        var setup = TestServer.Setup()
        let one = RateLimitQuota(requests: 1, windowSeconds: 3600)
        setup.quotas = [.anonymous: one, .failures: one, .keys: one].compactMapValues { $0 }
        try await TestServer.with(setup) { server in
            for _ in 0..<3 { _ = try await server.send(.get, "/nowhere") }
            for _ in 0..<3 {
                for path in ["/healthz", "/readyz"] {
                    #expect(try await server.send(.get, path).status == 200)
                    #expect(try await server.get(path, as: .metrics).status == 200)
                }
            }
            // Control: others are counted, and so is who tries credentials here.
            #expect(try await server.send(.get, "/openapi.json").status == 429)
            for status in [200, 429] {
                let answer = try await server.send(.get, "/readyz", credential: "nonsense")
                #expect(answer.status == status)
            }
            #expect(try await server.send(.get, "/healthz", credential: "nonsense").status == 200)
        }
    }
}
