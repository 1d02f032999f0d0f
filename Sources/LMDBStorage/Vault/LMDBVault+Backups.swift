import Crypto
import DurableFiles
package import EventLog
import FoundationEssentials
import Glibc
import LMDB

/// What an erasure does to copies that the product made: backups of the vault are brought up to its
/// generation; what it cannot reach is named.
extension LMDBVault {
    /// The ledger's directory: the vault's is one of its folders.
    var ledgerPath: String {
        URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
    }

    /// See `Vault`.
    package func erasedCopies(of streams: [UInt64]) throws -> ErasedCopies {
        let streams = Set(streams)
        var copies = ErasedCopies(generation: epochs.generation)
        let own = try MachineCopies(ofLedgerAt: ledgerPath)
        copies.add(own, holding: streams, now: clock())
        copies.machines = try machines(before: copies.generation)
        // They have said by now how far their backups are.
        for made in try copiesOfOthers() { copies.add(made, holding: streams, now: clock()) }
        copies.database = try keepersOfReplaced()
        return copies
    }

    private static func keysFile(of backup: BackupList.Entry) -> String {
        folder(of: backup) + "/" + EpochKeys.fileName
    }

    private static func folder(of backup: BackupList.Entry) -> String {
        backup.path + "/" + LedgerDirectory.vaultFolder
    }

    /// Brings every backup that can be reached up to the present keys: first what stays of the
    /// shards changed since, and the tombstones, behind its journal; then its epoch file.
    ///
    /// One that cannot be reached, or is another ledger's, stays as it is: the receipt names it. So does one
    /// of the ledger that this one was restored from: both may go on, and each draws keys of its own.
    ///
    /// `erased`: the streams of this erasure.
    func reachBackups(_ keys: EpochKeys, erased: [UInt64], _ writer: inout Writer) throws {
        for backup in try BackupList.read(ledgerPath: ledgerPath).own {
            // Whether it was reached its own keys tell, whatever went wrong.
            try? reach(backup, keys, erased: erased, &writer)
        }
    }

    private func reach(
        _ backup: BackupList.Entry,
        _ keys: EpochKeys,
        erased: [UInt64],
        _ writer: inout Writer
    ) throws {
        let keysFile = Self.keysFile(of: backup)
        guard let content = try DurableFile.read(keysFile) else { return }
        let generation = try EpochKeys.generation(of: content)
        guard generation < keys.generation,
            try keyFile.open(content).checkpointKey == keys.checkpointKey
        else { return }
        let journal = Self.folder(of: backup) + "/" + VaultJournal.fileName
        guard DurableFile.exists(journal) else { return }
        let file = try DurableFile.openForAppending(journal)
        defer { Glibc.close(file) }
        for shard in keys.shards(since: generation).sorted() {
            try DurableFile.write(Array(values(of: shard).joined()), to: file)
        }
        // One that was missed before lacks earlier tombstones too.
        let tombstones = generation + 1 == keys.generation ? erased : try allErased()
        try DurableFile.write(tombstones.flatMap(VaultTombstone.bytes), to: file)
        guard fsync(file) == 0 else { throw FileFault(errno, "fsync") }
        try keyFile.write(keys, to: keysFile, using: &writer.randomness)
    }

    /// The entries of a shard as they stand.
    private func values(of shard: Int) throws -> [[UInt8]] {
        try environment.read { transaction in
            try names.streams(of: shard, transaction).map { entry in
                let value = try transaction.get(streams, Key(entry.stream)) { $0.copy() }
                guard let value else {
                    throw LogStorageFault(.damaged, "a stream is missing from the vault")
                }
                return value
            }
        }
    }

    /// All streams that were ever erased.
    func allErased() throws -> [UInt64] {
        var erased: [UInt64] = []
        try environment.read { transaction in
            try transaction.scan(streams, from: nil) { key, value in
                guard key.count == 8 else { return true }
                let stream = key.loadUInt64BigEndian(at: 0)
                if try VaultEntry.isTombstone(value, of: stream) { erased.append(stream) }
                return true
            }
        }
        return erased
    }
}
