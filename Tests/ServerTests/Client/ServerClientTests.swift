import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import Hummingbird
import HummingbirdCore
import LedgerAPI
import LedgerOperations
import ServiceLifecycle
import Testing

@testable import LedgerServer

/// A server as commands ask it.
struct `A command's server` {
    /// Lends a server that answers by a socket in a folder, as its ledger's directory has one.
    private static func with(
        _ body: @escaping @Sendable (TestServer, _ folder: String) async throws -> Void
    ) async throws {
        // A socket's path is short.
        let folder = "/tmp/s-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let socket = try #require(try LedgerSocket.prepare(ofLedgerAt: folder))
        try await TestServer.with { server in
            try server.publishCatalog()
            let application = try LedgerServer.application(
                server.options,
                server.service,
                at: .unixDomainSocket(path: socket)
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await application.run() }
                // On a busy machine it takes a while until it listens.
                for _ in 0..<400 where await ServerClient.local(ofLedgerAt: folder) == nil {
                    try await Task.sleep(for: .milliseconds(25))
                }
                try await body(server, folder)
                group.cancelAll()
                // Whoever is cancelled says so.
                try? await group.waitForAll()
            }
        }
    }

    private static func json(_ bytes: [UInt8]) throws -> JSONValue { try JSONValue(parsing: bytes) }

    @Test func `answers the ledger's owner by a socket, without a key`() async throws {
        try await Self.with { server, folder in
            let client = try #require(await ServerClient.local(ofLedgerAt: folder))
            let grant = ServerCall.change(
                .post,
                ["v1", "customers", "an/odd id", "grants"],
                [("environment", "production")],
                .members(["tier": "pro", "grantId": "g"]),
                as: "a \"quoted\" id"
            )
            let given = try Self.json(try await client.answer(to: grant))
            #expect(given["outcome"]?.string == "appended")
            let shown = try Self.json(
                try await client.answer(to: .get(["v1", "customers", "an/odd id"]))
            )
            #expect(shown["tier"]?.string == "pro" && shown["customer"]?.string == "an/odd id")
            let again = try Self.json(try await client.answer(to: grant))
            #expect(again["outcome"]?.string == "duplicate")
            // Nobody is noted who gave no reason, and whoever gave one is.
            let before = try server.ledger.questions.size()
            let path = ["v1", "customers", "an/odd id", "timeline"]
            _ = try await client.answer(to: .get(path))
            _ = try await client.answer(to: .get(path, because: "ticket 4"))
            for _ in 0..<1200 where try server.ledger.questions.size() == before {
                try await Task.sleep(for: .milliseconds(25))
            }
            #expect(try server.ledger.questions.size() == before + 1)
        }
    }

    @Test func `says what a command says where it refuses`() async throws {
        try await Self.with { _, folder in
            let client = try #require(await ServerClient.local(ofLedgerAt: folder))
            func fault(_ call: ServerCall) async -> OperationFault? {
                do {
                    _ = try await client.answer(to: call)
                    return nil
                } catch { return error as? OperationFault }
            }
            let gone = ServerCall.change(
                .delete,
                ["v1", "customers", "ann", "grants", "nope"],
                as: "w"
            )
            #expect(await fault(gone)?.code == OperationFault.Code("unknown_grant", .conflict))
            func grant(_ tier: String) -> ServerCall {
                .change(
                    .post,
                    ["v1", "customers", "ann", "grants"],
                    [],
                    .members(["tier": .string(tier), "grantId": "g"]),
                    as: "one"
                )
            }
            #expect(await fault(grant("pro")) == nil)
            #expect(await fault(grant("free"))?.code == OperationFault.Code("conflict", .conflict))
            let use = ServerCall.change(
                .post,
                ["v1", "customers", "bob", "usage"],
                [],
                .members(["featureId": "export"]),
                as: "u"
            )
            #expect(await fault(use)?.code == OperationFault.Code("not_allowed", .no))
            let lost = ServerCall.get(["v1", "nothing"])
            #expect(await fault(lost)?.code.status == .conflict)
        }
    }

    @Test func `is none where nothing answers`() async throws {
        let folder = "/tmp/s-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(await ServerClient.local(ofLedgerAt: folder) == nil)
        let socket = try #require(try LedgerSocket.prepare(ofLedgerAt: folder))
        // What somebody left there who was stopped.
        try Data().write(to: URL(filePath: socket))
        #expect(await ServerClient.local(ofLedgerAt: folder) == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/socket")
        #expect(mode[.posixPermissions] as? Int == 0o700)
        #expect(LedgerSocket.path(ofLedgerAt: String(repeating: "x", count: 100)) == nil)
        let client = try ServerClient(url: "http://127.0.0.1:9/", token: "x")
        await #expect(throws: OperationFault.self) {
            _ = try await client.answer(to: .get(["healthz"]))
        }
        for url in ["", "ledger.example.com", "ftp://x", "http://\u{e4}"] {
            #expect(throws: OperationFault.self) { try ServerClient(url: url, token: nil) }
        }
    }
}
