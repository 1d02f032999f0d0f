import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import Synchronization
import Testing

@testable import LMDBStorage

/// Copies hold the keys of what they hold, wherever these stood when they were made.
struct `A copy of a ledger with new streams on their way` {
    @Test func `holds what stands in the log and not in the vault yet`() async throws {
        try await withScratchDirectory { folder in
            let place = try StreamPlace(folder)
            defer { place.directory.close() }
            let first = try place.commit(0..<3)
            try place.vault.drawIn()
            let copy = folder + "/copy"
            let (numbers, counts) = try place.vault.writer.withLock { _ in
                let numbers = try first + place.commit(3..<9)
                #expect(try place.kept(numbers[8]) == nil)
                return (numbers, try place.copyVault(to: copy))
            }
            #expect(counts.streams == 9 && counts.erased == 0)
            let items = try VaultItem.all(in: copy + "/journal")
            #expect(items.map(\.stream) == numbers)
            #expect(try items.allSatisfy { try $0.key(under: place.keys()) != nil })
        }
    }

    // A record elsewhere is worth nothing without its key.
    @Test func `is no archive before the vault has the keys`() async throws {
        try await ScratchLedger.with { scratch in
            // The vault takes nothing over.
            let vault = scratch.directory.vault
            vault.writer.withLock { $0.journal = nil }
            let lines = Sample.ownedPurchase("ann", "app_store/1")
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            _ = try scratch.ledger.prover.checkpoint()
            func archive() throws -> ArchiveProgress {
                try scratch.ledger.archiver.archive(
                    to: ArchiveDirectory(at: scratch.path + "/archive", forWriting: true),
                    manifest: LedgerDirectory.manifestBytes(at: scratch.path)
                )
            }
            #expect(throws: LogStorageFault.self) { try archive() }
            try vault.writer.withLock {
                $0.journal = try VaultJournal(path: scratch.path + "/vault/journal")
            }
            let progress = try archive()
            #expect(progress.archived == progress.size)
            #expect(try scratch.directory.log.newStreams(from: 0).isEmpty)
            let journal = try VaultItem.all(in: scratch.path + "/vault/journal")
            #expect(try vault.check() == UInt64(journal.count))
        }
    }
}
