import Dispatch
import DurableFiles
import Encodings
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

/// Copies that an erasure is to reach may be away, or hang; the ledger itself goes on (Z6).
struct `An erasure that is not finished` {
    private static func erase(_ customer: CustomerID, in ledger: Ledger) throws -> ErasureOutcome {
        try ledger.eraser.erase(
            [customer],
            Request(id: "erase", source: Source.support, environment: .production),
            reading: StoredEvidenceNames()
        )
    }

    /// Somebody new, with a purchase.
    private static func record(_ customer: String, in ledger: Ledger) throws {
        let lines = Sample.ownedPurchase(customer, "app_store/" + customer)
        for receipt in try ledger.appender.record(Sample.submissions(lines)) {
            guard case .appended = receipt else {
                Issue.record("an event was not recorded: \(receipt)")
                continue
            }
        }
    }

    // Who backs up by a timer of root's leaves a list that a service may not read.
    @Test func `for want of the list of backups holds up no append and no opening`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record("ann", in: scratch.ledger)
            let list = URL(filePath: scratch.path + "/" + BackupList.fileName)
            try Data("no list".utf8).write(to: list)
            let fault = #expect(throws: LedgerOpenFault.self) {
                try Self.erase("ann", in: scratch.ledger)
            }
            #expect(fault?.code == .damaged)
            for customer in ["bob", "cy"] {
                try Self.record(customer, in: scratch.ledger)
                #expect(scratch.directory.vault.preparedErasure != nil)
                let shown = try scratch.show("ann")
                #expect(!shown.description.contains("app_store/ann"), "\(shown)")
                try scratch.reopen()
                #expect(LedgerDirectory.isErasing(at: scratch.path))
            }
            #expect(scratch.directory.vault.epochs.generation == 1, "the keys are gone")
            try FileManager.default.removeItem(at: list)
            try scratch.reopen()
            #expect(scratch.directory.vault.preparedErasure == nil)
            #expect(!LedgerDirectory.isErasing(at: scratch.path))
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }

    // A mount hangs for as long as its server is away.
    @Test func `for a backup that hangs lets others append`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record("ann", in: scratch.ledger)
            let (directory, backup) = (scratch.directory, scratch.path + "-backup")
            let folder = backup + "/" + LedgerDirectory.vaultFolder
            _ = try directory.copyVault(to: folder, masterKey: ScratchLedger.masterKey)
            try BackupList.note(BackupList.Entry(path: backup, at: ""), ledgerPath: scratch.path)
            // A pipe is not opened to be written to before somebody reads from it.
            let pipe = folder + "/" + VaultJournal.fileName
            try FileManager.default.removeItem(atPath: pipe)
            try #require(unsafe mkfifo(pipe, 0o600) == 0)
            let isRecorded = try Self.isRecorded(
                besideErasureReaching: pipe,
                in: scratch.ledger,
                directory.vault
            )
            #expect(isRecorded)
            #expect(directory.vault.preparedErasure == nil, "it goes on where it was")
        }
    }

    /// Erases ann, a backup of whom has a pipe for its journal, and records bob meanwhile.
    ///
    /// - Returns: whether he was recorded while nobody read from the pipe.
    private static func isRecorded(
        besideErasureReaching pipe: String,
        in ledger: Ledger,
        _ vault: LMDBVault
    ) throws -> Bool {
        let (threads, recorded) = (DispatchGroup(), DispatchSemaphore(value: 0))
        threads.enter()
        Thread.detachNewThread {
            #expect(throws: Never.self) { try erase("ann", in: ledger) }
            threads.leave()
        }
        // Her keys are gone: what is left are copies.
        for _ in 0..<3000 where vault.epochs.generation == 0 { usleep(10_000) }
        threads.enter()
        Thread.detachNewThread {
            #expect(throws: Never.self) { try record("bob", in: ledger) }
            recorded.signal()
            threads.leave()
        }
        // If the erasure held it up it would wait for as long.
        let isRecorded = recorded.wait(timeout: .now() + .seconds(20)) == .success
        let isHeldUp = vault.preparedErasure != nil
        let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        threads.wait()
        close(reader)
        return isRecorded && isHeldUp
    }
}
