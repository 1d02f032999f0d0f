import HTTPTypes
import LedgerOperations
import Testing

@testable import LedgerServer

/// Several machines: one that hears nothing of its cluster goes on for a while.
struct `A machine of a cluster` {
    /// Lends a server that is a machine of a cluster, whose own files hold an empty ledger.
    private static func with(
        contactSeconds: Int64,
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await KeyFolder.with { folder in
            let node = try StillJournal(at: folder.path + "/ledger")
                .open(contactSeconds: contactSeconds)
            var setup = TestServer.Setup()
            setup.adjust = { $0.cluster = node }
            try await TestServer.with(setup, body)
            try node.open.close()
        }
    }

    private static let paths = ["/openapi.json", "/v1/status"]

    // It ends by itself, but only once its call to the database is over: it may have slept meanwhile.
    @Test func `answers nothing of its files once it was alone for too long`() async throws {
        try await Self.with(contactSeconds: -1) { server in
            for path in Self.paths {
                let answer = try await server.get(path)
                #expect(answer.status == 503 && answer.code == "busy", "\(path): \(answer)")
            }
            #expect(try await server.send(.get, "/healthz").status == 200)
            #expect(try await server.send(.get, "/readyz").status == 503)
        }
    }

    // The control
    @Test func `answers as long as it may go on alone`() async throws {
        try await Self.with(contactSeconds: ClusterFile.standardContactSeconds) { server in
            for path in Self.paths {
                let answer = try await server.get(path)
                #expect(answer.status == 200, "\(path): \(answer)")
            }
        }
    }
}
