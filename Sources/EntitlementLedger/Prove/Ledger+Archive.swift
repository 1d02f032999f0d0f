public import EventLog
import Synchronization

/// How far an archive has come.
public struct ArchiveProgress: Sendable, Equatable {
    /// Events that it holds.
    public var archived: UInt64
    /// Events of the log.
    public var size: UInt64
}

extension Ledger {
    /// The key that verifies this ledger's checkpoints.
    public var verifierKey: VerifierKey {
        get throws { try vault.verifierKey(named: identity.origin) }
    }

    /// Continues an archive up to the last checkpoint that was signed; writes nothing to the ledger.
    ///
    /// Cost: for each record that is new to it a hash and its bytes; memory: one batch.
    ///
    /// `manifest`: what `ledger.json` says, so that a ledger can be made from the archive.
    ///
    /// - Throws: `ArchiveFault`, `LogStorageFault`; what the store throws.
    public func archive(
        to store: any ArchiveStore,
        manifest: [UInt8],
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ArchiveProgress {
        guard let last = try log.lastCheckpoint() else {
            return ArchiveProgress(archived: 0, size: try size())
        }
        var writer = ArchiveWriter(log: log, store: store, key: try verifierKey)
        let archived = try archiving.withLock { _ in
            try writer.write(
                upTo: SignedNote.parse(last.note),
                manifest: manifest,
                progress: progress
            )
        }
        return ArchiveProgress(archived: archived, size: try size())
    }

    /// Checks an archive against its checkpoint and this log.
    public func auditArchive(
        _ store: any ArchiveStore,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ArchiveAudit {
        var audit = ArchiveAudit(ArchiveReader(store), key: try verifierKey)
        audit.run(against: log, progress: progress)
        return audit
    }
}
