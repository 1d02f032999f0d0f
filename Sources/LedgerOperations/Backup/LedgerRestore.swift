public import EntitlementLedger
import EventLog
import Foundation
package import LMDBStorage

/// A new ledger that is made from a backup, or from an archive and a copy of the vault.
public struct LedgerRestore {
    private let source: RestoreSource
    private let restore: ArchiveRestore
    /// What it would do.
    public let plan: ArchiveRestore.Plan

    /// Reads the source.
    ///
    /// `vault`: the folder with the vault's copy; nil: `vault` in the source.
    ///
    /// - Throws: `OperationFault` where there is none, `ArchiveFault`, `LedgerOpenFault`.
    public init(from source: String, vault: String? = nil, cut: ArchiveRestore.Cut) throws {
        self.source = try RestoreSource(source, vault: vault)
        restore = try ArchiveRestore(self.source.reader, key: self.source.key)
        plan = try restore.plan(cut)
    }

    /// Makes the ledger, in a directory that is empty or not there.
    ///
    /// Erasures of the source are applied, also those beyond the cut. One that is restored to less
    /// than was signed, or whose source was, never signs again, unless it goes on under a new name.
    ///
    /// `continuation`: its new name; nil: it stays the same ledger.
    ///
    /// - Throws: `LedgerOpenFault`, `OperationFault`, `ArchiveFault`, `LogStorageFault`.
    package func write(
        into path: String,
        masterKey: [UInt8],
        as continuation: Continuation? = nil,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> VaultCounts {
        let counts = try LedgerDirectory.restore(
            at: path,
            from: LedgerDirectory.Restoration(
                manifest: source.manifest,
                vault: source.vault,
                published: continuation == nil ? plan.published : nil,
                loss: plan.loss,
                listsCopies: true,
                backup: source.backup,
                signed: restore.checkpoint
            ),
            masterKey: masterKey,
            as: continuation?.identity
        ) { log in
            try restore.run(plan, into: log, isContinued: continuation != nil, progress: progress)
        }
        try continuation?.begin(at: path)
        return counts
    }
}

/// What is restored from: a backup, or an archive with a copy of the vault somewhere.
struct RestoreSource {
    let reader: ArchiveReader
    let manifest: [UInt8]
    let key: VerifierKey
    let vault: String
    /// Where it stands, if it is a backup whose vault is taken, too: absolute.
    let backup: String?

    init(_ path: String, vault: String?) throws {
        let isBackup = try BackupManifest.ledger(at: path) != nil
        let log = isBackup ? path + "/" + BackupManifest.logFolder : path
        reader = ArchiveReader(try ArchiveDirectory(at: log, forWriting: false))
        guard let manifest = try reader.manifest() else {
            throw OperationFault(
                .noSource,
                "there is neither a backup nor an archive of a ledger",
                place: path,
                hint: "give the directory that `entitle backup` or `entitle archive` wrote"
            )
        }
        self.manifest = manifest
        key = try VerifierKey(parsing: LedgerDirectory.manifest(reading: manifest).publicKey)
        let given = vault ?? path
        let inner = given + "/" + LedgerDirectory.vaultFolder
        // A backup, or a ledger, stands for the vault in it.
        self.vault = vault == nil || FileManager.default.fileExists(atPath: inner) ? inner : given
        guard FileManager.default.fileExists(atPath: self.vault) else {
            throw OperationFault(
                .noVault,
                "there is no copy of the vault: without its keys nobody is known",
                place: self.vault,
                hint: "give --vault DIR, a folder that `entitle backup` wrote, or a ledger's own"
            )
        }
        let place = URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
        backup = isBackup && vault == nil ? place : nil
    }
}
