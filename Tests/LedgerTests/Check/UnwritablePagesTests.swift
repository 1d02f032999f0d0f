import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import Glibc
import LMDB
import LedgerAPI
import Stores
import Testing

@testable import LMDBStorage

/// The first pages of a file are written by each commit, on a descriptor of their own; LMDB refuses
/// everything once that has failed.
private enum FirstPages {
    /// Puts a descriptor that only reads in the place of the one that the first pages are written on;
    /// false: none was found.
    static func breakThose(of folder: String) throws -> Bool {
        let file = folder + "/data.mdb"
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
}

struct `A log whose first pages were not written` {
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
            #expect(try FirstPages.breakThose(of: scratch.path + "/log"))
            #expect(throws: LogStorageFault.self) { try scratch.ledger.prover.checkpoint() }
            // The control: LMDB itself refuses to read.
            #expect(throws: LMDBError.self) { try environment.read { _ in } }
            #expect(try log.end().size == size)
            try record(1)
            _ = try scratch.ledger.prover.checkpoint()
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }

    // Who only reads is not left with a log that is closed.
    @Test func `and that could not be opened again, is by whoever reads next`() async throws {
        try await ScratchLedger.with { scratch in
            let log = scratch.directory.log
            let (size, file) = (try log.end().size, scratch.path + "/log/data.mdb")
            let files = FileManager.default
            try files.moveItem(atPath: file, toPath: file + ".away")
            #expect(throws: (any Error).self) { try log.reopen() }
            // The control: as long as it is away nothing is read.
            #expect(throws: (any Error).self) { try log.end() }
            try files.removeItem(atPath: file)
            try files.moveItem(atPath: file + ".away", toPath: file)
            #expect(try log.end().size == size)
        }
    }
}

struct `A vault whose first pages were not written` {
    @Test(arguments: [false, true])
    func `is opened again with its tables, where an environment is to be`(
        isMended: Bool
    ) async throws {
        try await withScratchDirectory { folder in
            let environment = try LMDB.Environment(
                path: folder,
                options: .init(mapSize: 1 << 24, isMended: isMended)
            )
            defer { environment.close() }
            let tables = try ["one", "other"].map { name in
                try #require(try environment.table(name, create: true))
            }
            func put(_ number: UInt8) throws {
                try environment.write { transaction in
                    for table in tables {
                        try transaction.put(table, Key(UInt64(number)), [number].span)
                    }
                }
            }
            func numbers(in table: Table) throws -> [UInt8] {
                var found: [UInt8] = []
                try environment.read { transaction in
                    try transaction.scan(table, from: nil) { _, value in
                        found += value.copy()
                        return true
                    }
                }
                return found
            }
            try put(1)
            #expect(try FirstPages.breakThose(of: folder))
            #expect(throws: LMDBError.self) { try put(2) }
            guard isMended else {
                // The control: LMDB itself refuses to read.
                #expect(throws: LMDBError.self) { try numbers(in: tables[0]) }
                return
            }
            try put(3)
            for table in tables {
                let found = try numbers(in: table)
                // What failed may stand, or not.
                #expect(found == [1, 3] || found == [1, 2, 3])
            }
        }
    }

    // Z6
    @Test func `erases who was to go, and keeps the others`() async throws {
        try await ScratchLedger.with { scratch in
            func record(_ customers: [String]) throws {
                for customer in customers {
                    let lines = Sample.ownedPurchase(customer, "app_store/\(customer)")
                    _ = try scratch.ledger.appender.record(Sample.submissions(lines))
                }
            }
            func erase() throws -> ErasureOutcome {
                try scratch.ledger.eraser.erase(
                    ["ann"],
                    Request(id: "e", source: Source.support, environment: .production),
                    reading: StoredEvidenceNames()
                )
            }
            try record(["ann", "bob"])
            let vault = scratch.directory.vault
            try vault.drawIn()
            #expect(try FirstPages.breakThose(of: scratch.path + "/vault"))
            // New streams are the log's, whatever becomes of the vault.
            try record(["cid"])
            // Here it fails, or behind the append.
            _ = try? vault.drawIn()
            try vault.drawIn()
            #expect(try FirstPages.breakThose(of: scratch.path + "/vault"))
            #expect(throws: (any Error).self) { try erase() }
            guard case .erased = try erase() else {
                Issue.record("nobody was erased")
                return
            }
            try record(["dan"])
            for customer in ["ann", "bob", "cid", "dan"] {
                let name = StreamName(environment: 0, subject: "customer/" + customer)
                let isKnown = try vault.stream(of: name) != nil
                #expect(isKnown == (customer != "ann"), "\(customer)")
            }
            #expect(try scratch.ledger.auditor.audit().isOK)
            try vault.check()
        }
    }
}
