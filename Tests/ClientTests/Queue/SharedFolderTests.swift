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
        _ folder: String
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
            notices: Broadcast(.bufferingNewest(1)),
            finish: { _ in }
        )
    }

    // rows 3.5, ES5
    @Test func `keep what the other has written, whoever writes the file anew`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(component: "client-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (server, time) = (ScriptedServer(), HeldTime())
        let (app, widget) = (
            Self.queue(server, time, folder.path), Self.queue(server, time, folder.path)
        )
        for queue in [app, widget] { await queue.start {} }
        server.isAway = true
        await widget.add(.claim(sampleTransaction("2")))
        // Verified anew so often that the file is written anew.
        await app.add(.claim(sampleTransaction("1")))
        for second in 1...300 as ClosedRange<Int64> {
            time.pass(to: noon.plus(seconds: second))
            await app.verified([sampleTransaction("1")])
        }
        let bytes = try #require(try FileStorage(path: folder.path).read(.queue))
        let file = QueueFile(bytes)
        #expect(bytes.count(where: { $0 == UInt8(ascii: "\n") }) < 250, "written anew")
        #expect(Set(texts: file.calls.flatMap(\.transactions).map(\.id)) == ["1", "2"])
        // Both end; whichever begins again hands in both, once each.
        server.isAway = false
        let again = Self.queue(server, time, folder.path)
        await again.start {}
        await again.send()
        #expect(server.recorded.count == 2)
        #expect(server.recorded.values.allSatisfy { $0.count == 1 })
    }
}
