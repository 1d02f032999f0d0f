import DurableFiles
import EntitlementLedger
public import Entitlements
public import EventLog
import Glibc
import LMDBStorage

/// A copy of a ledger's log and vault in a directory, made while writing goes on.
public struct LedgerBackup {
    private let open: OpenLedger
    private let path: String
    private let archive: String
    private let clock: @Sendable () -> Instant

    /// What became of it.
    public enum Outcome {
        /// Everything was read back and is whole.
        case written(BackupManifest)
        /// What was copied is not what was written.
        case damaged(ArchiveAudit)
    }

    /// How often a copy is made again because an erasure came in between.
    private static let copyAttempts = 5

    /// Begins a backup, or goes on with an older one of the same ledger.
    ///
    /// `path`: an absolute path; the ledger notes it. `archive`: where the ledger's archive is kept; nil: in
    /// its own directory.
    ///
    /// - Throws: `OperationFault` where the directory holds something else.
    public init(
        of open: OpenLedger,
        into path: String,
        archive: String? = nil,
        clock: @escaping @Sendable () -> Instant = SystemClock.now
    ) throws {
        try BackupManifest.requirePlace(path, of: open)
        self.open = open
        self.path = path
        self.archive = archive ?? open.directory.path + "/" + ArchiveDirectory.name
        self.clock = clock
    }

    /// Copies the log, the vault or both, and reads back what was copied.
    ///
    /// `masterKey`: which the vault's copy is checked by; nil: the vault is left out. `warn`: told
    /// where the ledger could not note the backup, which no erasure reaches then.
    ///
    /// - Throws: `OperationFault`, `ArchiveFault`, `LogStorageFault`, `FileFault`;
    ///   `LedgerFault.shortened` once all is copied that can be, of a log that signs no more.
    public func write(
        log: Bool = true,
        vault masterKey: [UInt8]?,
        warn: (String) -> Void,
        progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws -> Outcome {
        var copied: BackupManifest.Log?
        // Log first: then the vault has the keys of all that the log names.
        if log {
            let store = try ArchiveDirectory(
                at: path + "/" + BackupManifest.logFolder,
                forWriting: true
            )
            let result = try copyLog(to: store, progress)
            let audit = try open.ledger.archiver.audit(store)
            guard audit.findings.isEmpty else { return .damaged(audit) }
            copied = BackupManifest.Log(
                events: result.archived,
                // Fits: an archive ends where the log does, or before.
                behind: result.size - result.archived,
                checkpoint: try ArchiveReader(store).note()?.description ?? ""
            )
        }
        let counts = try masterKey.map { try copyVault($0, warn) }
        let manifest = BackupManifest(
            ledger: open.directory.manifest.ledger,
            writtenAt: clock(),
            log: copied,
            vault: counts
        )
        try manifest.put(in: path)
        try note("does not say that this one was made", warn) {
            let (now, ledger) = (clock().description, open.directory.path)
            guard counts != nil else {
                return try BackupList.note(logAt: now, path: path, ledgerPath: ledger)
            }
            try BackupList.note(
                BackupList.Entry(path: path, at: now, logAt: log ? nil : logAt()),
                ledgerPath: ledger
            )
        }
        // What is behind its last checkpoint is in no backup, and never will be.
        if log { try open.ledger.prover.requireExtendsPublished() }
        return .written(manifest)
    }

    /// Until when the newest copy of the log has all of it, in words of the list; nil: until now.
    ///
    /// Keys and names bring nothing back without one.
    private func logAt() throws -> String? {
        let places = [archive, path + "/" + BackupManifest.logFolder]
        // One that cannot be read is none.
        let sizes = places.compactMap { (try? Publication.archivedSize(at: $0)) ?? nil }
        guard let size = sizes.max() else { return "" }
        return try open.ledger.auditor.recordedAt(behind: size)?.description
    }

    /// Continues the backup's archive.
    private func copyLog(
        to store: ArchiveDirectory,
        _ progress: (UInt64, UInt64) -> Void
    ) throws -> ArchiveProgress {
        let result = try open.ledger.archiver.archive(
            to: store,
            manifest: LedgerDirectory.manifestBytes(at: open.directory.path),
            progress: progress
        )
        guard result.archived > 0 || result.size == 0 else {
            try open.ledger.prover.requireExtendsPublished()
            throw OperationFault(
                .noCheckpoint,
                "another process writes to the ledger and has signed no checkpoint yet",
                hint: "a server signs one every few minutes"
            )
        }
        return result
    }

    /// Copies the vault and notes the backup, so that an erasure reaches it; again where one came
    /// before it could.
    private func copyVault(_ masterKey: [UInt8], _ warn: (String) -> Void) throws -> VaultCounts {
        let folder = path + "/" + LedgerDirectory.vaultFolder
        try DurableFile.makeFolder(folder, isDurable: true)
        // Two at once would write into one file, and one of them acknowledge what the other has half.
        guard let lock = try DurableFile.whenFree({ try DurableFile.lock(folder + "/.lock") })
        else {
            throw ArchiveFault(.locked, "another process writes to the backup")
        }
        defer { Glibc.close(lock) }
        // Before the copy: one that is stopped behind it is reached, too.
        try note(
            "lacks this one: run the backup again once there is room, or no erasure reaches it",
            warn
        ) { try BackupList.note(begunAt: path, ledgerPath: open.directory.path) }
        for _ in 0..<Self.copyAttempts {
            let counts = try open.directory.copyVault(to: folder, masterKey: masterKey)
            try MachineCopies(ofLedgerAt: open.directory.path)
                .joined(with: open.directory.vault.copiesOfOthers())
                .put(besideVaultAt: folder, sealedBy: open.directory.vault.copiesSeal)
            if try open.directory.isCurrent(vaultCopy: folder) { return counts }
        }
        throw LogStorageFault(.busy, "the vault's keys are being replaced")
    }

    /// Changes the list in which erasures find backups; where the ledger's disk is full, says what the list
    /// lacks then.
    private func note(
        _ lack: String,
        _ warn: (String) -> Void,
        _ change: () throws -> Void
    ) throws {
        do {
            try change()
        } catch  where LogStorageFault.isFullDisk(error) {
            warn("the ledger's disk is full, and its list of backups \(lack)")
        }
    }
}
