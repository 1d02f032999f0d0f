import Dispatch
import DurableFiles
import EventLog
import Glibc
import LMDB
import Synchronization

/// Erasures leave dead entries in the journal: sealed under keys that are gone.
extension LMDBVault {
    /// A smaller journal is left as it is.
    private static let leastJournalBytes = 1 << 20

    /// Writes the journal anew, behind whoever writes, once half of it is dead.
    ///
    /// What does not succeed, because a disk is full say, is tried again after the next erasure.
    func compactJournal() {
        let bytes = writer.withLock { $0.journal?.byteCount }
        guard let bytes, bytes > Self.leastJournalBytes else { return }
        let generation = epochs.generation
        compacting.async { [self] in
            // A journal that stays long is whole.
            try? replaceJournal(ofBytes: bytes, generation)
            DurableFile.remove(path + "/" + VaultJournal.fileName + ".new")
        }
    }

    private func replaceJournal(ofBytes bytes: Int, _ generation: UInt64) throws {
        let journal = path + "/" + VaultJournal.fileName
        guard try liveBytes() * 2 < bytes else { return }
        DurableFile.remove(journal + ".new")
        let file = try DurableFile.openForAppending(journal + ".new")
        defer { Glibc.close(file) }
        let copied = try VaultCopy.write(streams, of: environment, to: file).streams
        try turn.withLock { turn in
            // Another erasure begins anew, behind this one.
            guard turn.erasure == nil else { return }
            try writer.withLock { writer in
                guard writer.journal != nil, epochs.generation == generation else { return }
                try VaultCopy.write(streams, of: environment, to: file, after: copied)
                // Opened before: nothing is written to a file that has no name any more.
                let new = try VaultJournal(path: journal + ".new")
                try DurableFile.rename(journal + ".new", to: journal)
                writer.journal = new
                try DurableFile.syncDirectory(of: journal)
            }
        }
    }

    /// Streams that are looked at to tell how long an entry is.
    private static let sampleCount = 1000

    /// Bytes of what the vault holds, about.
    private func liveBytes() throws -> Int {
        try environment.read { transaction in
            var (bytes, count) = (0, 0)
            try transaction.scanBackward(streams, from: nil) { _, value in
                bytes += value.count
                count += 1
                return count < Self.sampleCount
            }
            return try bytes * transaction.count(streams) / max(count, 1)
        }
    }
}
