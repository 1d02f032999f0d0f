import Encodings
import EntitlementLedger
import EventLog
import Foundation
import LMDB
import LedgerAPI
import Testing

@testable import LMDBStorage

/// A directory whose parts are not of one ledger is refused, before anything is read of it or
/// written to it.
struct `A log of another ledger` {
    /// What a log says of whose it is.
    enum Saying: CaseIterable { case id, checkpoint, nothing }

    /// Lends two ledgers with the same master key, both closed.
    private static func with(
        _ saying: Saying,
        _ body: (_ own: ScratchLedger, _ other: ScratchLedger) throws -> Void
    ) async throws {
        try await ScratchLedger.with { own in
            try await ScratchLedger.with { other in
                for (number, scratch) in [own, other].enumerated() {
                    let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
                    _ = try scratch.ledger.appender.record(Sample.submissions(lines))
                    if saying == .checkpoint { _ = try scratch.ledger.prover.checkpoint() }
                    if saying != .id { try forgetID(scratch.directory.log) }
                    try scratch.close()
                    try FileManager.default.removeItem(atPath: scratch.viewsPath)
                }
                try body(own, other)
            }
        }
    }

    /// Makes a log one of the first programs.
    private static func forgetID(_ log: LMDBLog) throws {
        try log.withEnvironment { opened in
            try opened.environment.write { _ = try $0.delete(opened.tables.end, Key(1)) }
        }
        #expect(try log.ledgerID() == nil)
    }

    private static func move(_ part: String, of other: ScratchLedger, to own: ScratchLedger) throws
    {
        let file = own.path + "/\(part)/data.mdb"
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.copyItem(atPath: other.path + "/\(part)/data.mdb", toPath: file)
        // The size when it was last closed is not what tells.
        try? FileManager.default.removeItem(atPath: own.path + "/closed")
    }

    private static func open(_ scratch: ScratchLedger, forWriting: Bool) throws {
        try OpenLedgerDirectory(
            at: scratch.path,
            masterKey: (0..<32).map { UInt8($0) },
            forWriting: forWriting,
            clock: { 0 },
            randomness: .system
        ).close()
    }

    private static func refusal(_ body: () throws -> Void) -> LedgerOpenFault.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? LedgerOpenFault)?.code
        }
    }

    @Test(arguments: Saying.allCases)
    func `is refused, whatever it says of itself`(_ saying: Saying) async throws {
        try await Self.with(saying) { own, other in
            let kept = try Data(contentsOf: URL(filePath: own.path + "/log/data.mdb"))
            try Self.move("log", of: other, to: own)
            let foreign = try Data(contentsOf: URL(filePath: own.path + "/log/data.mdb"))
            for forWriting in [false, true] {
                let refusal = Self.refusal { try Self.open(own, forWriting: forWriting) }
                #expect(refusal == .foreignLog)
            }
            let keyless = Self.refusal { try LedgerDirectory.openLog(at: own.path).log.close() }
            // Without the key nothing tells of a log that says nothing.
            #expect(keyless == (saying == .nothing ? nil : .foreignLog))
            #expect(try Data(contentsOf: URL(filePath: own.path + "/log/data.mdb")) == foreign)
            // The control: its own log is taken, and says from then on whose it is.
            try kept.write(to: URL(filePath: own.path + "/log/data.mdb"))
            try Self.open(own, forWriting: false)
            try own.reopen()
            #expect(try own.directory.log.ledgerID() == own.ledger.identity.id)
            #expect(try own.ledger.auditor.audit().isOK)
        }
    }

    // A log that a damage has made unreadable at its end is not another's.
    @Test func `is not one of which a checkpoint is damaged`() async throws {
        try await Self.with(.checkpoint) { own, _ in
            try own.reopen()
            try own.directory.log.keepCheckpoint(size: 3, note: "no note")
            try Self.forgetID(own.directory.log)
            try own.close()
            try Self.open(own, forWriting: true)
        }
    }

    // The same of names and keys: both vaults open with the same master key.
    @Test func `is refused like a vault of another ledger`() async throws {
        try await Self.with(.id) { own, other in
            try Self.move("vault", of: other, to: own)
            let keys = own.path + "/vault/epoch-keys"
            try FileManager.default.removeItem(atPath: keys)
            try FileManager.default.copyItem(atPath: other.path + "/vault/epoch-keys", toPath: keys)
            for forWriting in [false, true] {
                let refusal = Self.refusal { try Self.open(own, forWriting: forWriting) }
                #expect(refusal == .foreign)
            }
        }
    }

    @Test(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
    func `is named by the command`() async throws {
        try await CommandLedger.with { ledger in
            let other = ledger.folder + "/other"
            let made = try await EntitleCommand.run(["init", "--ledger", other])
            #expect(made.code == 0, "\(made.errors)")
            try FileManager.default.removeItem(atPath: ledger.path + "/log/data.mdb")
            try FileManager.default.copyItem(
                atPath: other + "/log/data.mdb",
                toPath: ledger.path + "/log/data.mdb"
            )
            let shown = try await ledger.run(["show", "ann"])
            #expect(shown.code == 3 && shown.problemCode == "foreign_log", "\(shown.errors)")
        }
    }
}
