import Foundation
import Hummingbird
import ServiceLifecycle
import Testing

@testable import LedgerServer

/// A server that listens at a socket's path (`--host unix:PATH`).
struct `A socket's path to listen at` {
    /// Lends a server's options with a path of its own.
    private static func with(
        _ body:
            @escaping @Sendable (TestServer, LedgerServer.Options, _ path: String)
            async throws -> Void
    ) async throws {
        // A socket's path is short.
        let path = "/tmp/a-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await TestServer.with { server in
            var options = server.options
            options.host = LedgerServer.Options.socketPrefix + path
            try await body(server, options, path)
        }
    }

    @Test func `is not taken from whoever answers there`() async throws {
        try await Self.with { server, options, path in
            let (listens, tell) = AsyncStream.makeStream(of: Void.self)
            let application = try LedgerServer.application(options, server.service) { _ in
                tell.finish()
            }
            // The control: nobody answers yet.
            try await LedgerServer.refuseTaken(options)
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // Where it does not listen nobody waits for it.
                    defer { tell.finish() }
                    try await application.run()
                }
                for await _ in listens {}
                await #expect(throws: LedgerServer.AddressTaken.self) {
                    try await LedgerServer.refuseTaken(options)
                }
                #expect(FileManager.default.fileExists(atPath: path))
                group.cancelAll()
                // Whoever is cancelled says so.
                try? await group.waitForAll()
            }
            #expect(LedgerServer.isAddressFault(LedgerServer.AddressTaken()))
        }
    }

    @Test(arguments: [true, false])
    func `is no file's and no directory's, which stay`(_ isDirectory: Bool) async throws {
        try await Self.with { server, options, path in
            let manager = FileManager.default
            if isDirectory {
                try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
            } else {
                #expect(manager.createFile(atPath: path, contents: nil))
            }
            try await LedgerServer.refuseTaken(options)
            let application = try LedgerServer.application(options, server.service)
            await #expect {
                try await application.run()
            } throws: {
                LedgerServer.isAddressFault($0)
            }
            #expect(manager.fileExists(atPath: path))
        }
    }
}
