public import EventLog
import Synchronization

/// How far an archive has come.
public struct ArchiveProgress: Sendable, Equatable {
    /// Events that it holds.
    public var archived: UInt64
    /// Events of the log.
    public var size: UInt64
}

/// The part of a ledger that keeps a copy of the log elsewhere, bundle by bundle.
public final class Archiver: Sendable {
    private let log: any LogReader
    private let prover: Prover
    private let knownLoss: KnownLoss?
    /// Held while an archive is written, or evidence deleted from one.
    let writing = Mutex<Void>(())

    /// Makes the part; `prover` signs for the log, `knownLoss` goes with its archives.
    init(_ log: any LogReader, _ prover: Prover, knownLoss: KnownLoss?) {
        self.log = log
        self.prover = prover
        self.knownLoss = knownLoss
    }

    /// Continues an archive up to the last checkpoint that was signed, once the vault and its second
    /// copy hold every key that it needs; writes no event.
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
            return ArchiveProgress(archived: 0, size: try log.end().size)
        }
        // A record elsewhere is worth nothing without its key.
        if let vault = prover.opened { try vault.drawIn() } else { try log.awaitTakeOver() }
        var writer = ArchiveWriter(log: log, store: store, key: try prover.verifierKey)
        let archived = try writing.withLock { _ in
            try writer.write(
                upTo: SignedNote.parse(last.note),
                manifest: manifest,
                loss: knownLoss,
                published: prover.published.map(SignedNote.parse),
                progress: progress
            )
        }
        return ArchiveProgress(archived: archived, size: try log.end().size)
    }

    /// Checks an archive against its checkpoint and this log.
    public func audit(
        _ store: any ArchiveStore,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ArchiveAudit {
        var audit = ArchiveAudit(ArchiveReader(store), key: try prover.verifierKey)
        audit.run(against: log, progress: progress)
        return audit
    }
}
