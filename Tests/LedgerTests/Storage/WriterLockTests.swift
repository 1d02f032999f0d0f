import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import Testing

@testable import LMDBStorage

/// One process writes (Storage, "A ledger directory"; row 3.5).
struct `The writer's lock` {
    private static func record(_ id: String, in scratch: ScratchLedger) throws -> Receipt {
        let data = #"{"grantId":"g","tier":"pro"}"#
        let event = try Sample.event(id, "grant.given", "customer/\(id)", data: data)
        return try scratch.ledger.appender.record(Submission(event: event))
    }

    private static func isLockedOut(_ scratch: ScratchLedger) throws -> Bool {
        do {
            try scratch.openBeside().close()
            return false
        } catch let fault as LedgerOpenFault {
            return fault.code == .locked
        }
    }

    /// Puts a copy of a file in its place, as some programs do that save, copy or synchronize files.
    private static func replace(_ file: String) throws {
        try FileManager.default.copyItem(atPath: file, toPath: file + ".copy")
        try DurableFile.rename(file + ".copy", to: file)
    }

    @Test func `holds whatever becomes of the file that shows it`() async throws {
        try await ScratchLedger.with { scratch in
            let shown = scratch.path + "/writer.lock"
            #expect(try Self.isLockedOut(scratch))
            try FileManager.default.removeItem(atPath: shown)
            #expect(try Self.isLockedOut(scratch))
            #expect(WriterLock.isHeld(at: scratch.path) == true)
            try Data("no lock of ours".utf8).write(to: URL(filePath: shown))
            #expect(try Self.isLockedOut(scratch))
            #expect(try Self.record("ann", in: scratch) == .appended(first: 0, count: 1))
            // The control: it goes with its holder.
            try scratch.close()
            #expect(WriterLock.isHeld(at: scratch.path) == false)
            try scratch.openBeside().close()
        }
    }

    // Closing any descriptor of a file gives up what POSIX locks hold on it; these it does not.
    @Test func `holds while readers come and go, and beside a salvage`() async throws {
        try await ScratchLedger.with { scratch in
            let file = scratch.path + "/log/data.mdb"
            for _ in 0..<3 { _ = try Data(contentsOf: URL(filePath: file)).count }
            close(try DurableFile.openForReading(file))
            #expect(try Self.isLockedOut(scratch))
            #expect(throws: LedgerOpenFault.self) {
                try WriterLock.take(at: scratch.path, isShared: true)
            }
            try scratch.close()
            // Who only looks shares it, and keeps writers out meanwhile.
            let looks = try (0..<2).map { _ in
                try WriterLock.take(at: scratch.path, isShared: true)
            }
            #expect(try Self.isLockedOut(scratch))
            for look in looks { look.release() }
            try scratch.openBeside().close()
        }
    }

    @Test func `is not inherited by a program that is started meanwhile`() async throws {
        try await ScratchLedger.with { scratch in
            let child = Process()
            child.executableURL = URL(filePath: "/bin/sleep")
            child.arguments = ["60"]
            try child.run()
            defer { child.terminate() }
            try scratch.close()
            try scratch.openBeside().close()
            #expect(child.isRunning)
        }
    }

    // What is written to a file that another one has replaced, nobody would read again.
    @Test(arguments: ["log/data.mdb", "log/lock.mdb", "vault/data.mdb", "vault/lock.mdb"])
    func `stops its holder where a file was replaced or removed`(_ name: String) async throws {
        for isRemoved in [false, true] {
            try await ScratchLedger.with { scratch in
                #expect(try Self.record("ann", in: scratch) == .appended(first: 0, count: 1))
                let file = scratch.path + "/" + name
                if isRemoved {
                    try FileManager.default.removeItem(atPath: file)
                } else {
                    try Self.replace(file)
                }
                for id in ["bob", "cat"] {
                    let fault = #expect(throws: LogStorageFault.self) {
                        try Self.record(id, in: scratch)
                    }
                    #expect(fault?.code == .replaced)
                    #expect(fault?.message.contains(name) == true)
                }
                #expect(try scratch.ledger.questions.size() == 1)
            }
        }
    }

    // The lock is on the file, so another file has none: its first holder writes no more.
    @Test func `is another one on a copy in its place`() async throws {
        try await ScratchLedger.with { scratch in
            #expect(try Self.record("ann", in: scratch) == .appended(first: 0, count: 1))
            #expect(try Self.isLockedOut(scratch))
            try Self.replace(scratch.path + "/log/data.mdb")
            try WriterLock.take(at: scratch.path).release()
            #expect(throws: LogStorageFault.self) { try Self.record("bob", in: scratch) }
        }
    }

    // What the system does not tell is no damage.
    @Test func `is refused with what the system says of a folder that it does not open`()
        async throws
    {
        try await withScratchDirectory { ledger in
            let none = #expect(throws: LedgerOpenFault.self) { try WriterLock.take(at: ledger) }
            #expect(none?.code == .damaged)
            try FileManager.default.createSymbolicLink(
                atPath: ledger + "/log",
                withDestinationPath: ledger + "/log"
            )
            let fault = #expect(throws: FileFault.self) { try WriterLock.take(at: ledger) }
            #expect(fault?.code == ELOOP)
        }
    }
}
