import EntitlementLedger
import EventLog
import Foundation
import Glibc
import LMDB
import LedgerAPI
import Testing

@testable import LMDBStorage

/// The first pages of a log's file are written by each commit, on a descriptor of their own; LMDB
/// refuses everything once that has failed.
struct `A log whose first pages were not written` {
    /// Puts a descriptor that only reads in the place of the one that the first pages are written on;
    /// false: none was found.
    private static func breakFirstPages(of path: String) throws -> Bool {
        let file = path + "/log/data.mdb"
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            // Those of other tests come and go.
            guard let descriptor = Int32(name),
                let place = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/" + name
                ), place == file, fcntl(descriptor, F_GETFL) & O_DSYNC != 0
            else { continue }
            let reading = try FileHandle(forReadingFrom: URL(filePath: file))
            return dup2(reading.fileDescriptor, descriptor) == descriptor
        }
        return false
    }

    // E3; Storage, "Append" 6
    @Test func `is opened again, and goes on`() async throws {
        try await ScratchLedger.with { scratch in
            func record(_ number: Int) throws {
                let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
                let receipts = try scratch.ledger.appender.record(Sample.submissions(lines))
                #expect(receipts.count == lines.count)
            }
            try record(0)
            let log = scratch.directory.log
            let size = try log.end().size
            let environment = try log.withEnvironment { $0.environment }
            #expect(try Self.breakFirstPages(of: scratch.path))
            #expect(throws: LogStorageFault.self) { try scratch.ledger.prover.checkpoint() }
            // The control: LMDB itself refuses to read.
            #expect(throws: LMDBError.self) { try environment.read { _ in } }
            #expect(try log.end().size == size)
            try record(1)
            _ = try scratch.ledger.prover.checkpoint()
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }
}
