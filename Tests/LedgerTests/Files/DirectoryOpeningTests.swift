import DurableFiles
import EntitlementLedger
import EventLog
import Foundation
import Glibc
import LMDB
import Testing

@testable import LMDBStorage

/// A ledger's directory beside other processes, and where it cannot be opened.
struct `A ledger's directory` {
    // Two who find it empty at once: the slower one must not take the other's keys away.
    @Test func `is made by one of those who make it at once`() async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/ledger"
            let keys = path + "/vault/" + EpochKeys.fileName
            // Keys are drawn once the folders stand: by then another process has its own in place.
            let randomness = RandomSource {
                try? DurableFile.create(keys, with: [7])
                return UInt64.random(in: 0...UInt64.max)
            }
            let fault = #expect(throws: LedgerOpenFault.self) {
                try LedgerDirectory.create(
                    at: path,
                    masterKey: [UInt8](repeating: 7, count: 32),
                    origin: "ledger.test/log",
                    created: "2026-01-01T00:00:00.000Z",
                    randomness: randomness
                )
            }
            #expect(fault?.code == .notEmpty)
            let kept = try DurableFile.read(keys)
            #expect(kept == [7])
        }
    }

    // Whoever opens it next looks at it first.
    @Test func `stays marked as not closed where its log is damaged`() async throws {
        try await ScratchLedger.with { scratch in
            for name in ["ann", "bob", "cy"] {
                let line = Sample.grantLine("grant-" + name, to: name)
                _ = try scratch.ledger.appender.record(Sample.submissions([line]))
            }
            try scratch.close()
            let mark = scratch.path + "/" + LedgerDirectory.uncleanName
            #expect(!DurableFile.exists(mark), "the control: it was closed")
            try Self.loseFirstRecord(ofLogIn: scratch.path)
            #expect(throws: LogStorageFault.self) { try scratch.reopenWithoutViews() }
            #expect(DurableFile.exists(mark))
        }
    }

    private static func loseFirstRecord(ofLogIn path: String) throws {
        let log = try LMDBLog(path: path + "/log", isReadOnly: false)
        defer { log.close() }
        let isLost = try log.withEnvironment { opened in
            try opened.environment.write { try $0.delete(opened.tables.tail, Key(0)) }
        }
        try #require(isLost, "it stood by itself")
    }
}
