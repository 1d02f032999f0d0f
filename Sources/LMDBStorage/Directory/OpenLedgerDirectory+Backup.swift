import Crypto
import DurableFiles
import EventLog
import FoundationEssentials
import Glibc

/// What a copy of a vault holds.
package struct VaultCounts: Sendable, Equatable {
    /// Streams, erased ones included.
    package var streams: Int
    /// Streams of which only the number is left.
    package var erased: Int
}

extension OpenLedgerDirectory {
    /// How often a copy is begun anew because keys were replaced meanwhile.
    private static let copyAttempts = 5
    /// Bytes of a copy that are held at once.
    private static let pieceByteCount = 1 << 20

    /// Copies the vault as it stands into a folder, while writing to the ledger goes on.
    ///
    /// The copy is every item, sealed, and the epoch file, which only the master key opens.
    /// The folder is made if it is not there; what an older backup left in it is replaced, and is whole
    /// until then, wherever it is stopped. The copy is read back: every entry opens.
    ///
    /// - Throws: `LogStorageFault`, `FileFault`, `LedgerOpenFault`.
    package func copyVault(to folder: String, masterKey: [UInt8]) throws -> VaultCounts {
        try DurableFile.makeFolder(folder, isDurable: true)
        let vaultPath = path + "/" + LedgerDirectory.vaultName
        let journal = folder + "/" + VaultJournal.fileName
        let masterKey = SymmetricKey(data: masterKey)
        for _ in 0..<Self.copyAttempts {
            let before = try Self.keys(ofVault: vaultPath)
            let counts = try writeCopy(to: journal + DurableFile.newSuffix)
            // An erasure that came between sealed items anew, which the keys of before do not open.
            guard let before, try Self.keys(ofVault: vaultPath) == before else { continue }
            let keys = try EpochKeyFile.open(before, masterKey)
            // Nor does a copy take along the keys that one under way is about to destroy.
            guard keys.replaced.isEmpty else { continue }
            try Self.check(journal + DurableFile.newSuffix, keys, counts)
            try Self.prepare(folder, for: keys, masterKey)
            // Who replaces the keys brings the copy along, or comes before it.
            do {
                let isPlaced = try EpochKeyFile.whileLocked(vaultPath: vaultPath) {
                    guard try Self.keys(ofVault: vaultPath) == before else { return false }
                    // In this order: the older journal opens by these keys, too.
                    try DurableFile.replace(folder + "/" + EpochKeys.fileName, with: before)
                    try DurableFile.rename(journal + DurableFile.newSuffix, to: journal)
                    try DurableFile.syncDirectory(of: journal)
                    return true
                }
                if isPlaced { return counts }
            } catch let fault as LedgerOpenFault where fault.code == .locked {
                // They are being replaced just now.
            }
        }
        throw LogStorageFault(.busy, "the vault's keys are being replaced")
    }

    /// Adds a new copy's items to the older one in a folder, if that is sealed under other keys: as after an
    /// erasure, all that stays of it opens by those and by these.
    ///
    /// What is torn is passed over, and is replaced by the next copy.
    private static func prepare(
        _ folder: String,
        for keys: EpochKeys,
        _ masterKey: SymmetricKey
    ) throws {
        // Keys that do not open are others.
        let older = try? EpochKeyFile.open(Self.keys(ofVault: folder), masterKey)
        let journal = folder + "/" + VaultJournal.fileName
        guard DurableFile.exists(journal), older?.shards != keys.shards else { return }
        let new = try DurableFile.openForReading(journal + DurableFile.newSuffix)
        defer { Glibc.close(new) }
        let file = try DurableFile.openForAppending(journal)
        defer { Glibc.close(file) }
        var offset: UInt64 = 0
        while true {
            let piece = try DurableFile.read(new, at: offset, count: pieceByteCount)
            if piece.isEmpty { break }
            try DurableFile.write(piece, to: file)
            offset += UInt64(piece.count)
        }
        guard fsync(file) == 0 else { throw FileFault(errno, "fsync") }
    }

    private func writeCopy(to journal: String) throws -> VaultCounts {
        DurableFile.remove(journal)
        let file = try DurableFile.openForAppending(journal)
        defer { Glibc.close(file) }
        return try vault.copy(to: file)
    }

    private static func keys(ofVault folder: String) throws -> [UInt8]? {
        try DurableFile.read(folder + "/" + EpochKeys.fileName)
    }

    /// Whether a copy of the vault holds nothing that was erased since it was made.
    package func isCurrent(vaultCopy folder: String) throws -> Bool {
        let generations = try [folder, path + "/" + LedgerDirectory.vaultName].map { vault in
            try Self.keys(ofVault: vault).map(EpochKeys.generation)
        }
        return generations[0] == generations[1]
    }

    /// Reads a copy back.
    private static func check(
        _ journal: String,
        _ keys: EpochKeys,
        _ counts: VaultCounts
    ) throws {
        var found = VaultCounts(streams: 0, erased: 0)
        try VaultJournalReader.read(journal) { _, part in
            guard case .item(let item) = part else {
                throw LogStorageFault(.damaged, "the copy of the vault is not what was written")
            }
            found.streams += 1
            switch item {
            case .tombstone: found.erased += 1
            case .entry(_, _, let bytes):
                try mappingFaults {
                    guard try VaultEntry(opening: bytes.span, epochKeys: keys) != nil else {
                        throw DecodingFault.unopened
                    }
                }
            }
        }
        guard found == counts else {
            throw LogStorageFault(.damaged, "the copy of the vault is not what was written")
        }
    }
}

extension LMDBVault {
    /// Appends every durable item to a file and syncs it.
    fileprivate func copy(to file: Int32) throws -> VaultCounts {
        // Before the vault: what is not new any more stands there.
        let new = try log.newStreams(from: 0)
        var counts = try VaultCopy.write(streams, of: environment, to: file)
        let last = UInt64(counts.streams)
        let missing = new.filter { StreamNumber.counter(of: $0.stream) > last }
        counts.streams += missing.count
        try DurableFile.write(missing.flatMap(\.bytes), to: file)
        guard fsync(file) == 0 else { throw FileFault(errno, "fsync") }
        return counts
    }
}
