import Encodings
import Entitlements
import Foundation
import LedgerAPI
import Testing

@testable import EntitlementClient

/// An app and its widget, in one folder.
struct `Two programs in one folder` {
    private static func queue(
        _ server: ScriptedServer,
        _ time: HeldTime,
        _ folder: String,
        _ notices: Broadcast<ClientNotice> = Broadcast(.bufferingNewest(1))
    ) -> SyncQueue {
        SyncQueue(
            SnapshotAuthority.customer,
            storage: FileStorage(path: folder),
            connection: ServerConnection(
                url: "https://ledger.test",
                transport: server.transport,
                time: time.time,
                token: { "token" }
            ),
            time: time.time,
            notices: notices,
            finish: { _ in }
        )
    }

    private static func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(component: "client-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    /// What a queue tells when it begins.
    private static func told(
        _ server: ScriptedServer,
        _ time: HeldTime,
        _ folder: String
    ) async -> (queue: SyncQueue, notice: ClientNotice?) {
        let notices = Broadcast<ClientNotice>(.unbounded)
        let queue = Self.queue(server, time, folder, notices)
        let stream = notices.stream()
        await queue.start {}
        // Behind all others.
        notices.send(.unverifiedTransaction)
        return (queue, await stream.first { _ in true })
    }

    // rows 3.5, ES5
    @Test func `keep what the other has written, whoever writes the file anew`() async throws {
        try await Self.withFolder { folder in
            let (server, time) = (ScriptedServer(), HeldTime())
            let app = Self.queue(server, time, folder)
            let widget = Self.queue(server, time, folder)
            for queue in [app, widget] { await queue.start {} }
            server.isAway = true
            await widget.add(.claim(sampleTransaction("2")))
            // Verified anew so often that the file is written anew.
            await app.add(.claim(sampleTransaction("1")))
            for second in 1...300 as ClosedRange<Int64> {
                time.pass(to: noon.plus(seconds: second))
                await app.verified([sampleTransaction("1")])
            }
            let bytes = try #require(try FileStorage(path: folder).read(.queue))
            let file = QueueFile(bytes)
            #expect(bytes.count(where: { $0 == UInt8(ascii: "\n") }) < 250, "written anew")
            #expect(Set(texts: file.calls.flatMap(\.transactions).map(\.id)) == ["1", "2"])
            // Both end; whichever begins again hands in both, once each.
            server.isAway = false
            let again = Self.queue(server, time, folder)
            await again.start {}
            await again.send()
            #expect(server.recorded.count == 2)
            #expect(server.recorded.values.allSatisfy { $0.count == 1 })
        }
    }

    // Nothing is damaged: the other took away what this one still speaks of.
    @Test func `note what the other has taken away, and find a whole file`() async throws {
        try await Self.withFolder { folder in
            let (server, time) = (ScriptedServer(), HeldTime())
            let app = Self.queue(server, time, folder)
            await app.start {}
            await app.add(.claim(sampleTransaction()))
            let widget = Self.queue(server, time, folder)
            await widget.start {}
            await app.send()
            await app.settle(await app.recorded, seenAt: .max)
            time.pass(to: noon.plus(seconds: 1))
            await widget.verified([sampleTransaction()])
            let (again, notice) = await Self.told(server, time, folder)
            #expect(notice == .unverifiedTransaction)
            #expect(await again.calls.isEmpty)
            // The control: what does not hold is told.
            try FileStorage(path: folder).append(Array("no line\n".utf8), to: .queue)
            let (_, damage) = await Self.told(server, time, folder)
            #expect(damage == .cacheRefused(file: "queue"))
        }
    }

    // row 3.5
    @Test func `write at once and lose no line`() async throws {
        try await Self.withFolder { folder in
            let line = Array("a line\n".utf8)
            try FileStorage(path: folder).append(line, to: .queue)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let files = FileStorage(path: folder)
                        for _ in 0..<500 {
                            try files.append(line, to: .queue)
                            await Task.yield()
                        }
                    }
                }
                try await group.waitForAll()
            }
            let bytes = try #require(try FileStorage(path: folder).read(.queue))
            #expect(bytes.split(separator: UInt8(ascii: "\n")).count == 2001)
        }
    }

    // row 3.5: it would stand in a file that nobody reads any more
    @Test func `lose no line that one adds while the other writes the file anew`() async throws {
        try await Self.withFolder { folder in
            let line = Array("a line\n".utf8)
            try FileStorage(path: folder).append(line, to: .queue)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for isAdding in [true, true, false] {
                    group.addTask {
                        let files = FileStorage(path: folder)
                        for _ in 0..<300 {
                            if isAdding {
                                try files.append(line, to: .queue)
                            } else {
                                try files.rewrite(.queue) { $0 ?? [] }
                            }
                            await Task.yield()
                        }
                    }
                }
                try await group.waitForAll()
            }
            let bytes = try #require(try FileStorage(path: folder).read(.queue))
            #expect(bytes.split(separator: UInt8(ascii: "\n")).count == 601)
        }
    }

    // It would never be read again, and what is added to it would be lost at each end.
    @Test func `begin anew beside a file that is too large to be read`() async throws {
        try await Self.withFolder { folder in
            let (server, time, files) = (ScriptedServer(), HeldTime(), FileStorage(path: folder))
            let large = Array(repeating: UInt8(ascii: "\n"), count: FileStorage.byteLimit + 1)
            try files.write(large, to: .queue)
            let (queue, notice) = await Self.told(server, time, folder)
            #expect(notice == .cacheRefused(file: "queue"))
            #expect(FileManager.default.fileExists(atPath: folder + "/queue.refused"))
            await queue.add(.claim(sampleTransaction()))
            let (again, second) = await Self.told(server, time, folder)
            #expect(second == .unverifiedTransaction)
            #expect(await again.calls.flatMap(\.transactions) == [sampleTransaction()])
        }
    }

    @Test func `have it to themselves, whoever made it`() async throws {
        try await Self.withFolder { folder in
            let manager = FileManager.default
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
            try FileStorage(path: folder).write([1], to: .queue)
            let mode = try manager.attributesOfItem(atPath: folder)[.posixPermissions]
            #expect(mode as? Int == 0o700)
        }
    }
}
