import EventLog
package import LedgerAPI

extension Prover {
    /// What the newest checkpoint signs; nil: nothing is signed yet.
    package func signedSize() throws -> StatusAnswer.SignedSize? {
        try lastCheckpoint().map {
            StatusAnswer.SignedSize(size: $0.size, rootHash: $0.root.base64)
        }
    }

    /// What the checkpoints sign that are kept, the newest first.
    ///
    /// - Throws: `NoteFault` for a checkpoint that cannot be read; `LogStorageFault`.
    package func signedSizes(limit: Int) throws -> [StatusAnswer.SignedSize] {
        try log.checkpoints().suffix(limit).reversed().map { kept in
            let checkpoint = try Checkpoint(parsing: SignedNote.parse(kept.note).text)
            return StatusAnswer.SignedSize(
                size: checkpoint.size,
                rootHash: checkpoint.root.base64
            )
        }
    }
}
