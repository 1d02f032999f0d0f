import Crypto
import DurableFiles
package import EventLog
import FoundationEssentials

/// The backups and exports that one machine made and lists in its directory; in a cluster it tells them to the
/// others, so that whoever erases somebody names them all (Several machines).
package struct MachineCopies: Sendable, Equatable, Codable {
    /// Backups with a copy of the vault.
    var backups: [Backup]
    /// Exports, in the order in which they were noted.
    private(set) var exports: [Export]

    /// A backup, and how far erasures reached it.
    struct Backup: Sendable, Equatable, Codable {
        /// As in the machine's list.
        var entry: BackupList.Entry
        /// The generation of its keys; nil: it cannot be read, or holds none.
        var generation: UInt64?
    }

    /// An export, as a line of the machine's list has it.
    struct Export: Sendable, Hashable, Codable {
        /// Its directory.
        var path: String
        /// The digest of its manifest; nil: it has begun.
        var manifest: String?
        /// When it was made, RFC 3339.
        var madeAt: String?
        /// What it shows of names.
        var redaction: String?
        /// The streams that it holds; nil: a range of everything.
        var streams: [UInt64]?
    }

    init(backups: [Backup], exports: [Export]) {
        (self.backups, self.exports) = (backups, exports)
    }

    /// What stands in a machine's directory.
    ///
    /// - Throws: `LedgerOpenFault.damaged`, `FileFault`. Cost: a small file of each backup is read.
    package init(ofLedgerAt path: String) throws {
        backups = try BackupList.read(ledgerPath: path).backups.map { entry in
            let keys = entry.path + "/" + LedgerDirectory.vaultFolder + "/" + EpochKeys.fileName
            // One with the keys of another ledger was not reached.
            guard entry.isInherited != true else { return Backup(entry: entry) }
            // Nor was what cannot be read, or holds no keys.
            let generation = try? DurableFile.read(keys).map(EpochKeys.generation)
            return Backup(entry: entry, generation: generation)
        }
        let decoder = JSONDecoder()
        let list = URL(filePath: path).appending(path: LedgerDirectory.exportsName)
        exports = try LedgerDirectory.exports(at: path).map { line in
            // What is no line may have named anybody's: whoever erases has to look into the list.
            (try? decoder.decode(Export.self, from: Data(line.utf8)))
                ?? Export(path: list.path(percentEncoded: false))
        }
    }

    /// Lists that cannot be read: each is named in the place of what stands in it.
    package static let unread = MachineCopies(
        backups: [Backup(entry: .init(path: BackupList.fileName, at: ""), generation: nil)],
        exports: [Export(path: LedgerDirectory.exportsName)]
    )

    /// Whether there are none.
    package var isEmpty: Bool { backups.isEmpty && exports.isEmpty }

    // MARK: In the cluster

    /// Seals them: a path may say whose export it is.
    static func seal(by key: Curve25519.Signing.PrivateKey) -> LedgerSeal {
        LedgerSeal(key, for: "copies")
    }

    /// The bytes that a cluster holds of them.
    package func sealed(by seal: LedgerSeal, of machine: String) throws -> [UInt8] {
        try seal.sealed(Array(JSONEncoder().encode(self)), as: machine)
    }

    /// Opens what a cluster holds of a machine's.
    ///
    /// - Throws: `LogStorageFault.damaged`.
    package init(opening bytes: [UInt8], by seal: LedgerSeal, of machine: String) throws {
        let plain = try seal.opened(bytes, as: machine)
        // What this program cannot read is as good as damaged.
        guard let read = try? JSONDecoder().decode(MachineCopies.self, from: Data(plain)) else {
            throw LogStorageFault(.damaged, "a machine's list of copies is none")
        }
        self = read
    }

    /// The same with the machine's name before each path: how another one names them.
    package func named(by machine: String) -> MachineCopies {
        var copies = self
        for place in backups.indices {
            copies.backups[place].entry.path = machine + ":" + backups[place].entry.path
        }
        for place in exports.indices {
            copies.exports[place].path = machine + ":" + exports[place].path
        }
        return copies
    }

    /// An export as a line of the list.
    static func line(_ export: Export) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(export), as: UTF8.self)
    }

    /// Adds to a directory's lists what they lack.
    ///
    /// - Throws: `LedgerOpenFault`, `FileFault`.
    package func list(inLedgerAt path: String) throws {
        let own = try MachineCopies(ofLedgerAt: path)
        let paths = Set(own.backups.map(\.entry.path))
        let missing = backups.map(\.entry).filter { !paths.contains($0.path) }
        if !missing.isEmpty {
            try BackupList.change(ledgerPath: path) { $0.backups += missing }
        }
        let listed = Set(own.exports)
        let lines = try exports.filter { !listed.contains($0) }.map(Self.line)
        if !lines.isEmpty { try LedgerDirectory.noteExports(lines, at: path) }
    }
}

extension ErasedCopies {
    /// Days after which a backup is to be deleted.
    private static let backupDays: Int64 = 30
    private static let millisecondsPerDay: Int64 = 86_400_000

    /// Adds a machine's backups, and those of its exports that hold one of these streams or a range of everything.
    ///
    /// `now`: milliseconds since 1970.
    mutating func add(_ made: MachineCopies, holding streams: Set<UInt64>, now: Int64) {
        for backup in made.backups {
            let path = backup.entry.path
            if backup.generation == generation {
                reached.append(path)
            } else {
                missed.append(Missed(path: path, until: Self.end(of: backup.entry, now: now)))
            }
        }
        let holding = made.exports.filter {
            $0.streams?.contains(where: streams.contains) ?? true
        }
        exports += Set(holding.map(\.path)).sorted()
    }

    private static func end(of backup: BackupList.Entry, now: Int64) -> Int64 {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        // A time that cannot be read is no reason to keep the backup longer.
        let made = (try? style.parse(backup.at)).map { Int64($0.timeIntervalSince1970 * 1000) }
        return (made ?? now) + backupDays * millisecondsPerDay
    }
}
