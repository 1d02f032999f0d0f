import DurableFiles
import EntitlementLedger
import EventLog
import Foundation
import Glibc
import LMDBStorage
import LedgerOperations
import Testing

/// A file that cannot be looked at is not taken for one that is not there.
struct `A file that cannot be looked at` {
    /// Lends a folder with a link to itself, which nobody follows, and the way below a file.
    private static func with(
        _ body: (_ folder: String, _ loop: String, _ below: String) throws -> Void
    ) async throws {
        try await withScratchDirectory { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/loop",
                withDestinationPath: "loop"
            )
            try DurableFile.replace(folder + "/file", with: [1, 2])
            try body(folder, folder + "/loop", folder + "/file/below")
        }
    }

    @Test func `is a fault to whoever reads it`() async throws {
        try await Self.with { folder, loop, below throws in
            #expect(throws: FileFault.self) { try DurableFile.read(loop) }
            #expect(throws: FileFault.self) { try DurableFile.byteCount(loop) }
            #expect(throws: FileFault.self) { try DurableFile.names(in: loop) }
            for absent in [folder + "/absent", below] {
                #expect(try DurableFile.read(absent) == nil)
                #expect(try DurableFile.byteCount(absent) == nil)
                #expect(try DurableFile.names(in: absent) == [])
            }
            #expect(try DurableFile.read(folder + "/file") == [1, 2], "the control")
            #expect(try DurableFile.byteCount(folder + "/file") == 2)
        }
    }

    @Test func `is a fault of the archive that it belongs to`() async throws {
        try await Self.with { folder, _, _ throws in
            let archive = try ArchiveDirectory(at: folder, forWriting: false)
            #expect(throws: FileFault.self) { try archive.read("loop", limit: 9) }
            #expect(throws: FileFault.self) { try archive.exists("loop") }
            #expect(throws: FileFault.self) { try archive.names(in: "loop") }
            #expect(try archive.read("absent", limit: 9) == nil)
            #expect(try archive.exists("absent") == false)
            #expect(try archive.names(in: "absent") == [])
        }
    }

    // Nobody makes a file there, root neither.
    @Test func `is one that may not be used where the log is opened`() throws {
        let place = "/sys"
        let fault = #expect(throws: FileFault.self) {
            _ = try LMDBLog(path: place, isReadOnly: false)
        }
        let told = OperationFault(telling: try #require(fault), ofLedgerAt: place)
        #expect(told.code == .notPermitted && told.place == place && told.hint != nil)
        // The control: a directory that is not there is another matter.
        #expect(throws: LogStorageFault.self) {
            _ = try LMDBLog(path: "/proc/none", isReadOnly: false)
        }
    }

    // Pages of an older state in the place of newer ones are sound in themselves.
    @Test func `opens no ledger that it says the least size of`() async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(
                Sample.submissions(Sample.ownedPurchase("ann", "app_store/1"))
            )
            try scratch.close()
            let closed = scratch.path + "/closed"
            let bytes = try #require(try DurableFile.read(closed))
            try FileManager.default.removeItem(atPath: closed)
            try FileManager.default.createSymbolicLink(
                atPath: closed,
                withDestinationPath: "closed"
            )
            #expect(throws: FileFault.self) { try scratch.reopen() }
            #expect(throws: FileFault.self) { try LedgerDirectory.openLog(at: scratch.path) }
            try FileManager.default.removeItem(atPath: closed)
            try DurableFile.replace(closed, with: bytes)
            try scratch.reopen()
        }
    }
}
