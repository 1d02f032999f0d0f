import Entitlements
import EventLog

extension Prover {
    /// Signs the log's present size and root, keeps the note and returns it (C2SP
    /// tlog-checkpoint).
    ///
    /// A log that is shorter than a checkpoint, or does not extend it, never signs.
    /// - Throws: `LogStorageFault.damaged` then; `LedgerFault.shortened` where the checkpoint was
    ///   published before the log was restored to less.
    public func checkpoint() throws -> String {
        guard let storage else { throw LedgerFault.onlyRead }
        return try turn.take { try checkpoint(keptIn: storage) }
    }

    /// Writes the last note again, which changes nothing; false: there is none.
    func keepAgain(in storage: any LogStorage) throws -> Bool {
        try turn.take {
            guard let last = try log.lastCheckpoint() else { return false }
            try storage.keepCheckpoint(size: last.size, note: last.note)
            return true
        }
    }

    private func checkpoint(keptIn storage: any LogStorage) throws -> String {
        let end = try log.end()
        try requireExtendsPublished()
        if let last = try lastCheckpoint() {
            guard last.size <= end.size else {
                throw LogStorageFault(.damaged, "the log is shorter than its last checkpoint")
            }
            guard
                try last.size == 0
                    || TreeReader(LogTiles(log)).root(size: last.size) == last.root
            else { throw LogStorageFault(.damaged, "the log does not extend its last checkpoint") }
            if last.size == end.size, let kept = try log.lastCheckpoint() { return kept.note }
        }
        let text = Checkpoint(origin: identity.origin, size: end.size, root: end.edge.root).text
        let note = try signer.sign(text).description
        try storage.keepCheckpoint(size: end.size, note: note)
        return note
    }

    /// Refuses a log that was restored to less than a published checkpoint: it signs no more, so that
    /// its archives end before it does.
    ///
    /// - Throws: `LedgerFault.shortened`, `LogStorageFault`.
    package func requireExtendsPublished() throws {
        guard let published else { return }
        let checkpoint = try Checkpoint(
            SignedNote.parse(published).verified(by: [verifierKey])
        )
        guard try log.extends(checkpoint) else {
            throw LedgerFault(
                .shortened,
                "a checkpoint of \(checkpoint.size) events was published, and the log was restored "
                    + "to less: it never signs another one"
            )
        }
    }

    /// The last checkpoint that was signed; nil if there is none.
    func lastCheckpoint() throws -> Checkpoint? {
        guard let last = try log.lastCheckpoint() else { return nil }
        return try Checkpoint(SignedNote.parse(last.note).verified(by: [verifierKey]))
    }
}
