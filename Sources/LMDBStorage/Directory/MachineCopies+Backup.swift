import DurableFiles
package import EventLog
import FoundationEssentials

/// Copies of a ledger as a backup holds them, for a ledger that is restored from it: whoever is erased from that
/// one is in them, too (Z6).
extension MachineCopies {
    /// The file that stands beside the vault's copy.
    private static let fileName = "copies"
    /// The words that it is sealed with.
    private static let words = "backup"

    /// Writes them beside a copy of the vault, sealed.
    ///
    /// - Throws: `FileFault`.
    package func put(besideVaultAt folder: String, sealedBy seal: LedgerSeal) throws {
        let bytes = try sealed(by: seal, of: Self.words)
        try DurableFile.replace(folder + "/" + Self.fileName, with: bytes)
    }

    /// What stands beside a copy of the vault, or in the directory of the ledger whose vault it is.
    ///
    /// What cannot be read does not hold up a restore: it is named in the place of what it lists.
    init(besideVaultAt folder: String, sealedBy seal: LedgerSeal) {
        do {
            if let bytes = try DurableFile.read(folder + "/" + Self.fileName) {
                self = try MachineCopies(opening: bytes, by: seal, of: Self.words)
            } else {
                let ledger = URL(filePath: folder).deletingLastPathComponent()
                self = try MachineCopies(ofLedgerAt: ledger.path(percentEncoded: false))
            }
        } catch {
            self = .unread
        }
    }

    /// These and those of others.
    package func joined(with others: [MachineCopies]) -> MachineCopies {
        others.reduce(self) {
            MachineCopies(backups: $0.backups + $1.backups, exports: $0.exports + $1.exports)
        }
    }

    /// The same as a ledger lists them that was made from such a copy; `source`: the backup that it was made
    /// from, an absolute path, if it was one.
    func inherited(from source: String?) -> MachineCopies {
        var copies = self
        if let source, !copies.backups.contains(where: { $0.entry.path == source }) {
            copies.backups.append(Backup(entry: BackupList.Entry(path: source, at: "")))
        }
        for place in copies.backups.indices { copies.backups[place].entry.isInherited = true }
        return copies
    }

    /// Adds to the lists of a directory in which no ledger stands yet.
    ///
    /// - Throws: `LedgerOpenFault`, `FileFault`.
    func makeLists(inLedgerAt path: String) throws {
        if !backups.isEmpty {
            var list = try BackupList.read(ledgerPath: path)
            list.backups += backups.map(\.entry)
            try DurableFile.replace(path + "/" + BackupList.fileName, with: list.bytes())
        }
        if !exports.isEmpty {
            let known = try LedgerDirectory.exports(at: path)
            let lines = try (known + exports.map(Self.line)).map { $0 + "\n" }.joined()
            let file = path + "/" + LedgerDirectory.exportsName
            try DurableFile.replace(file, with: Array(lines.utf8))
        }
    }
}
