import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations

/// The command `entitle backup`.
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies log and vault to a directory while writing goes on, and checks the copy.",
        discussion: """
            First the log, as an archive up to a signed checkpoint; then the vault, sealed as it is, \
            which nothing opens without the master key. The key itself is never copied: keep it \
            elsewhere. Run again, it copies what is new. A directory is another disk's or another \
            machine's by mounting or copying it.
            """
    )

    @OptionGroup var options: LedgerOptions
    @Argument(help: "The backup's directory; an older backup of this ledger in it is continued.")
    var directory: String
    @Flag(help: "Only the log.") var logOnly = false
    @Flag(help: "Only the vault.") var vaultOnly = false

    func validate() throws {
        if logOnly && vaultOnly { throw ValidationError("--log-only excludes --vault-only") }
    }

    func run() throws {
        let path = URL(filePath: directory).standardizedFileURL.path(percentEncoded: false)
        let masterKey = try MasterKey.read(options)
        let progress = Progress("backed up")
        let manifest = try Signing.withCheckpointed(options) { open in
            try BackupManifest.requirePlace(path, of: open)
            // Log first: then the vault has the keys of all that the log names.
            let archived = vaultOnly ? nil : try copyLog(open, path, progress)
            let counts = logOnly ? nil : try copyVault(open, path, masterKey)
            let manifest = BackupManifest(
                ledger: open.directory.manifest.ledger,
                writtenAt: SystemClock.now(),
                log: archived,
                vault: counts
            )
            try manifest.put(in: path)
            return manifest
        }
        progress.finish()
        show(manifest, path)
    }

    /// How often a copy is made again because an erasure came in between.
    private static let copyAttempts = 5

    /// Copies the vault and notes the backup, so that an erasure reaches it; again where one came
    /// before it could.
    private func copyVault(
        _ open: OpenLedger,
        _ path: String,
        _ masterKey: [UInt8]
    ) throws -> VaultCounts {
        let folder = path + "/" + LedgerDirectory.vaultFolder
        for _ in 0..<Self.copyAttempts {
            let counts = try open.directory.copyVault(to: folder, masterKey: masterKey)
            try note(path)
            if try open.directory.isCurrent(vaultCopy: folder) { return counts }
        }
        throw LogStorageFault(.busy, "the vault's keys are being replaced")
    }

    /// Notes the backup where erasures find it; where the ledger's disk is full, says that it could
    /// not.
    private func note(_ path: String) throws {
        do {
            try BackupList.note(
                BackupList.Entry(path: path, at: SystemClock.now().description),
                ledgerPath: options.path
            )
        } catch  where CommandFailure(error).isFullDisk {
            Terminal.note(
                "warning: the ledger's disk is full, and its list of backups lacks this one: run "
                    + "the backup again once there is room, or no erasure reaches it"
            )
        }
    }

    /// Continues the backup's archive and reads all of it back.
    private func copyLog(
        _ open: OpenLedger,
        _ path: String,
        _ progress: Progress
    ) throws -> BackupManifest.Log {
        let store = try ArchiveDirectory(
            at: path + "/" + BackupManifest.logFolder,
            forWriting: true
        )
        let result = try open.ledger.archive(
            to: store,
            manifest: LedgerDirectory.manifestBytes(at: options.path),
            progress: { progress.show($0, of: $1) }
        )
        guard result.archived > 0 || result.size == 0 else {
            throw CommandFailure(
                .tryAgain,
                "no_checkpoint",
                "another process writes to the ledger and has signed no checkpoint yet",
                hint: "a server signs one every few minutes"
            )
        }
        let audit = try open.ledger.auditArchive(store)
        guard audit.findings.isEmpty else {
            ArchiveText.show(audit, json: options.json)
            throw ExitCode.integrity
        }
        return BackupManifest.Log(
            events: result.archived,
            behind: result.size - result.archived,
            checkpoint: try ArchiveReader(store).note()?.description ?? ""
        )
    }

    private func show(_ manifest: BackupManifest, _ path: String) {
        if options.json { return Terminal.line(manifest.json) }
        if let log = manifest.log {
            let rest = log.behind == 0 ? "" : "; \(log.behind) wait for the next checkpoint"
            Terminal.line("backed up \(log.events) events to \(path), checked\(rest)")
        }
        if let vault = manifest.vault {
            Terminal.line(
                "backed up the vault: \(vault.streams) streams, \(vault.erased) erased, each opens"
            )
        }
    }
}

/// What a backup says of itself, in `manifest.json`.
///
/// The log's part is bound by its checkpoint: the root hash covers every record, and records name the
/// digests of what they carry. The vault's part changes with each erasure, so it has no digest; each
/// item has its own.
struct BackupManifest {
    static let fileName = "manifest.json"
    static let logFolder = "log"
    private static let format: Int64 = 1
    /// Bytes of the list; one has a few hundred.
    private static let byteLimit = 1 << 16

    var ledger: String
    var writtenAt: Instant
    var log: Log?
    var vault: VaultCounts?

    struct Log {
        var events: UInt64
        var behind: UInt64
        var checkpoint: String
    }

    var json: JSONValue {
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
        guard let count = DurableFile.byteCount(path + "/" + fileName) else { return nil }
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
            throw CommandFailure(
                .cannotCreate,
                "not_empty",
                "the directory holds something else than a backup of this ledger",
                place: path,
                hint: "choose another directory"
            )
        }
    }
}
