import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import Salvage
import Testing

/// The newest meta page can be read, and what it leads to cannot (row 3.6, row Z5).
struct `A ledger whose newest root is lost` {
    /// A ledger of 61 events, closed; the last one is behind the newest meta page alone, and neither a
    /// checkpoint nor the last close tells of it.
    private static func written(_ body: (_ path: String) throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            let lines = (0..<20).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            // Behind the events of new streams the log removes what the vault has taken over.
            try scratch.reopen()
            let late = [Sample.grantLine("late", to: "u1")]
            _ = try scratch.ledger.appender.record(Sample.submissions(late))
            let size = try scratch.ledger.questions.size()
            try #require(size == 61)
            try scratch.close()
            try FileManager.default.removeItem(atPath: scratch.path + "/closed")
            try body(scratch.path)
        }
    }

    private static func loseRoot(_ path: String) throws {
        try `A salvage`.damage(path) { data in
            data.resetBytes(in: MetaPages.root(data, of: MetaPages.newest(data)))
        }
    }

    // The control of what follows
    @Test func `is shorter behind its older meta page`() async throws {
        try await Self.written { path in
            try `A salvage`.damage(path) { data in
                let newest = MetaPages.newest(data)
                var older = Data(data[MetaPages.range(of: 1 - newest)])
                // A page begins with its own number.
                older[0] = UInt8(newest)
                data.replaceSubrange(MetaPages.range(of: newest), with: older)
            }
            let log = try LMDBLog(path: path + "/log", isReadOnly: true)
            defer { log.close() }
            #expect(try log.end().size == 60)
        }
    }

    @Test func `loses nothing by a salvage`() async throws {
        try await Self.written { path in
            try Self.loseRoot(path)
            let report = try `A salvage`.rescue(path, into: path + "-rescued")
            #expect(report.size == 61 && report.records == 61 && report.confirmed == 61)
            #expect(report.isWhole)
        }
    }

    @Test func `is not healed with what an older meta page leads to`() async throws {
        try await Self.written { path in
            try Self.loseRoot(path)
            let file = URL(filePath: path + "/log/data.mdb")
            let damaged = try Data(contentsOf: file)
            let options = ScratchLedger.options(TestClock())
            let healing = LedgerHealing(of: path, options: options) {
                Issue.record("something was changed")
                throw OperationFault(.damaged, "what was changed is not audited")
            }
            let fault = #expect(throws: OperationFault.self) { _ = try healing.run() }
            #expect(fault?.code == .damaged)
            #expect(try Data(contentsOf: file) == damaged)
        }
    }
}
