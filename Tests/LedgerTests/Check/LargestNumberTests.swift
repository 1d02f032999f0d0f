import Encodings
import Entitlements
import EventLog
import Foundation
import LMDB
import LedgerAPI
import Testing

@testable import EntitlementLedger
@testable import LMDBStorage

/// Numbers that a damage made the largest: something is added to each of them where it is read.
struct `The largest number` {
    @Test func `as a key of the log's tail is met as damage`() async throws {
        // A key that is not one of a number counts as the largest.
        for key in [Key(UInt64.max), Key(UInt64.max - 1), Key(1 << 63), Key(0, 0)] {
            try await ScratchLedger.with { scratch in
                let lines = Sample.ownedPurchase("ann", "app_store/1")
                _ = try scratch.ledger.appender.record(Sample.submissions(lines))
                let log = scratch.directory.log
                let size = try log.end().size
                var read: UInt64 = 0
                try log.scan(from: 0, upTo: size) { header, _ in
                    read = header.sequence + 1
                    return true
                }
                #expect(read == size, "the control")
                try log.withEnvironment { opened in
                    try opened.environment.write { transaction in
                        let tail = opened.tables.tail
                        let value = try #require(
                            try transaction.get(tail, Key(0)) { $0.copy() }
                        )
                        try transaction.clear(tail)
                        try transaction.put(tail, key, value.span)
                    }
                }
                for first in [0, size - 1] {
                    let fault = #expect(throws: LogStorageFault.self) {
                        try log.scan(from: first, upTo: size) { _, _ in true }
                    }
                    #expect(fault?.code == .damaged)
                }
                #expect(throws: LogStorageFault.self) { try log.readRecords([0]) { _, _ in } }
            }
        }
    }

    @Test func `as the name of a generation of the views stops nobody who makes one`() async throws
    {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<20, publishing: true)
            let sound = try viewed.open()
            let expected = try Answers(sound, customers: 0..<20)
            try sound.close()
            for name in ["18446744073709551615", "18446744073709551616"] {
                try FileManager.default.removeItem(atPath: viewed.path)
                try FileManager.default.createDirectory(
                    atPath: viewed.path + "/" + name,
                    withIntermediateDirectories: true
                )
                try Data(name.utf8).write(to: URL(filePath: viewed.path + "/current"))
                let ledger = try viewed.open()
                #expect(try Answers(ledger, customers: 0..<20) == expected)
                #expect(try ledger.auditor.audit().isOK)
                try ledger.close()
                // What was made is there the next time.
                let next = try viewed.open()
                #expect(try next.auditor.status().views.discarded == nil)
                try next.close()
            }
        }
    }
}
