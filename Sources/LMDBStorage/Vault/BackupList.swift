import DurableFiles
import FoundationEssentials

/// Where backups with a copy of the vault were written, so that an erasure can reach them.
///
/// Stands in the ledger's directory as `backups.json`: paths and times, nothing of anybody.
package struct BackupList: Sendable, Equatable, Codable {
    /// The file's name.
    package static let fileName = "backups.json"

    /// The backups, each path once, in the order of their times.
    package var backups: [Entry] = []

    /// One backup.
    package struct Entry: Sendable, Equatable, Codable {
        /// The backup's directory, absolute; its copy of the vault stands in `vault`.
        package var path: String
        /// When it was last written whole, RFC 3339; empty: that is not known, or it never was.
        package var at: String
        /// Until when the copy of the log beside the vault has all, RFC 3339; empty: there is none; nil: it was
        /// copied with the vault.
        package var logAt: String?
        /// Whether it is of the ledger that this one was restored from: that one's erasures reach it, and this
        /// one's only name it.
        package var isInherited: Bool?

        /// Names a backup that this ledger made.
        package init(path: String, at: String, logAt: String? = nil) {
            self.path = path
            self.at = at
            self.logAt = logAt
        }
    }

    /// Those that this ledger made: what it may change.
    package var own: [Entry] { backups.filter { $0.isInherited != true } }

    /// A list without backups.
    package init() {}

    /// The list of a ledger; empty where there is none.
    ///
    /// - Throws: `LedgerOpenFault.damaged` for a file that is not one.
    package static func read(ledgerPath: String) throws -> BackupList {
        guard let bytes = try DurableFile.read(ledgerPath + "/" + fileName) else {
            return BackupList()
        }
        guard let list = try? JSONDecoder().decode(BackupList.self, from: Data(bytes)) else {
            throw LedgerOpenFault(
                .damaged,
                "backups.json is not a list of backups: mend it, or move it away and back up anew"
            )
        }
        return list
    }

    /// Notes a backup, durably; one at the same path is replaced.
    package static func note(_ entry: Entry, ledgerPath: String) throws {
        try change(ledgerPath: ledgerPath) { list in
            list.backups.removeAll { $0.path == entry.path }
            list.backups.append(entry)
        }
    }

    /// Notes, durably, that the log was copied anew beside the vault of a backup that this ledger made.
    package static func note(logAt instant: String, path: String, ledgerPath: String) throws {
        try change(ledgerPath: ledgerPath) { list in
            guard
                let place = list.backups.lastIndex(where: {
                    $0.path == path && $0.isInherited != true && $0.logAt != nil
                })
            else { return }
            list.backups[place].logAt = instant
        }
    }

    /// Notes, durably, that a backup has begun; one that this ledger made at the same path stays as it was.
    package static func note(begunAt path: String, ledgerPath: String) throws {
        try change(ledgerPath: ledgerPath) { list in
            guard !list.own.contains(where: { $0.path == path }) else { return }
            list.backups.removeAll { $0.path == path }
            list.backups.append(Entry(path: path, at: ""))
        }
    }

    /// Changes the list, durably.
    package static func change(
        ledgerPath: String,
        _ body: (inout BackupList) throws -> Void
    ) throws {
        try LedgerDirectory.change(fileName, at: ledgerPath) {
            var list = try read(ledgerPath: ledgerPath)
            try body(&list)
            return try list.bytes()
        }
    }

    /// The file's content.
    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [0x0A]
    }
}
