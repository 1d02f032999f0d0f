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

    /// Copies the vault as it stands into a folder, while writing to the ledger goes on.
    ///
    /// The copy is every item, sealed, and the epoch file, which only the master key opens.
    /// The folder is made if it is not there; what an older backup left in it is replaced. The copy
    /// is read back: every entry opens.
    ///
    /// - Throws: `LogStorageFault`, `FileFault`, `LedgerOpenFault`.
    package func copyVault(to folder: String, masterKey: [UInt8]) throws -> VaultCounts {
        try DurableFile.makeFolder(folder, isDurable: true)
        let vaultPath = path + "/" + LedgerDirectory.vaultName
        for _ in 0..<Self.copyAttempts {
            let before = try Self.keys(ofVault: vaultPath)
            let journal = folder + "/" + VaultJournal.fileName
            let counts = try writeCopy(to: journal + DurableFile.newSuffix)
            // An erasure that came between sealed items anew, which the keys of before do not open.
            guard let before, try Self.keys(ofVault: vaultPath) == before else { continue }
            let keys = try EpochKeyFile.open(before, SymmetricKey(data: masterKey))
            // Nor does a copy take along the keys that one under way is about to destroy.
            guard keys.replaced.isEmpty else { continue }
            try Self.check(journal + DurableFile.newSuffix, keys, counts)
            // Who replaces the keys brings the copy along, or comes before it.
            do {
                let isPlaced = try EpochKeyFile.whileLocked(vaultPath: vaultPath) {
                    guard try Self.keys(ofVault: vaultPath) == before else { return false }
                    try DurableFile.rename(journal + DurableFile.newSuffix, to: journal)
                    try DurableFile.replace(folder + "/" + EpochKeys.fileName, with: before)
                    return true
                }
                if isPlaced { return counts }
            } catch let fault as LedgerOpenFault where fault.code == .locked {
                // They are being replaced just now.
            }
        }
        throw LogStorageFault(.busy, "the vault's keys are being replaced")
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
