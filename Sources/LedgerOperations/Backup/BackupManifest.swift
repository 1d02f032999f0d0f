import DurableFiles
package import Encodings
public import Entitlements
import EventLog
package import LMDBStorage

/// What a backup says of itself, in `manifest.json`.
///
/// The log's part is bound by its checkpoint: the root hash covers every record, and records name the
/// digests of what they carry. The vault's part changes with each erasure, so it has no digest; each
/// item has its own.
public struct BackupManifest {
    static let fileName = "manifest.json"
    /// The folder of the log's archive.
    package static let logFolder = "log"
    private static let format: Int64 = 1
    /// Bytes of the list; one has a few hundred.
    private static let byteLimit = 1 << 16

    /// The ledger's id.
    public var ledger: String
    /// When it was made.
    public var writtenAt: Instant
    /// What is in its log; nil: the log was left as it was.
    public var log: Log?
    /// What is in its vault; nil: the vault was left as it was.
    package var vault: VaultCounts?

    /// The log's part.
    public struct Log {
        /// Events that it holds.
        public var events: UInt64
        /// Events that wait for the next checkpoint.
        public var behind: UInt64
        /// A signed note.
        public var checkpoint: String
    }

    /// The file's content.
    package var json: JSONValue {
        .members([
            "format": .integer(Self.format), "ledger": .string(ledger),
            "writtenAt": .instant(writtenAt),
            "log": log.map {
                .members([
                    "events": .integer($0.events), "behind": .integer($0.behind),
                    "checkpoint": .string($0.checkpoint),
                ])
            } ?? .null,
            "vault": vault.map {
                .members(["streams": .integer($0.streams), "erased": .integer($0.erased)])
            } ?? .null,
        ])
    }

    /// The ledger that a backup is of; nil: no backup was finished there.
    ///
    /// - Throws: `LedgerOpenFault` for a list of another format, or none.
    static func ledger(at path: String) throws -> String? {
        guard let count = try DurableFile.byteCount(path + "/" + fileName) else { return nil }
        guard count <= byteLimit, let bytes = try DurableFile.read(path + "/" + fileName),
            let json = try? JSONValue(parsing: bytes), let format = json["format"]?.integer,
            let ledger = json["ledger"]?.string
        else { throw LedgerOpenFault(.foreign, "its manifest.json is not a backup's") }
        guard format == Self.format else {
            throw LedgerOpenFault(
                format > Self.format ? .newer : .foreign,
                "the backup's format is \(format), this program knows \(Self.format)"
            )
        }
        return ledger
    }

    /// Writes it, in place of an older one.
    func put(in path: String) throws {
        try DurableFile.replace(
            path + "/" + Self.fileName,
            with: Array((json.description + "\n").utf8)
        )
    }

    /// An empty directory, or one that holds a backup of the same ledger, whole or begun.
    static func requirePlace(_ path: String, of open: OpenLedger) throws {
        let names = try DurableFile.names(in: path)
        // One that was stopped may have left its list half-written.
        let ours: Set<String> = [
            fileName, fileName + DurableFile.newSuffix, logFolder, LedgerDirectory.vaultFolder,
        ]
        let archive = path + "/" + logFolder + "/" + ArchiveLayout.manifest
        let archived = try DurableFile.read(archive).map {
            try LedgerDirectory.manifest(reading: $0).ledger
        }
        // One with the vault alone has no archive.
        let ledgers = try [archived, ledger(at: path)].compactMap(\.self)
        guard Set(names).isSubset(of: ours),
            ledgers.allSatisfy({ $0 == open.directory.manifest.ledger })
        else {
            throw OperationFault(
                .notEmpty,
                "the directory holds something else than a backup of this ledger",
                place: path,
                hint: "choose another directory"
            )
        }
    }
}
