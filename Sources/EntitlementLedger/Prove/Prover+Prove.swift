public import EventLog
public import LedgerAPI

extension Prover {
    /// Proves that an event stands in the log, by the newest checkpoint that was signed.
    ///
    /// Reads O(log n) tiles. `withRecord`: whether the file holds the record too, sealed as it is, so
    /// that it proves by itself; of a record that is lost whoever has it proves the place.
    ///
    /// - Throws: `LedgerFault.unknownSequence` for an event behind the newest checkpoint;
    ///   `LogStorageFault`, `DecodingFault` for a damaged log.
    public func proof(of sequence: UInt64, withRecord: Bool = true) throws -> InclusionProofFile {
        let newest = try log.lastCheckpoint()
        guard let kept = newest, sequence < kept.size else {
            throw try notSigned("no signed checkpoint holds that event", newest?.size)
        }
        let proof = try TreeReader(LogTiles(log)).inclusionProof(leaf: sequence, size: kept.size)
        var record: [UInt8]?
        if withRecord {
            try log.readRecords([sequence]) { _, entry in
                // A gap that keeps the lost record's leaf does not give it.
                if LostRecord(entry)?.leaf == nil { record = entry.copy() }
            }
        }
        return InclusionProofFile(
            record: record,
            sequence: sequence,
            hashes: proof.hashes,
            checkpoint: try SignedNote.parse(kept.note)
        )
    }

    /// Says what is not signed, how far the log reaches, and how far it is signed.
    private func notSigned(_ what: String, _ signed: UInt64?) throws -> LedgerFault {
        let size = try log.end().size
        let reached =
            (signed ?? 0) < size
            ? "of which \(signed ?? 0) are signed; `entitle checkpoint` signs all" : "from 0 on"
        return LedgerFault(.unknownSequence, "\(what): the log has \(size) events, \(reached)")
    }

    /// Proves that the newest checkpoint extends the log's first `oldSize` events.
    ///
    /// Reads O(log n) tiles.
    ///
    /// - Throws: `LedgerFault.unknownSequence` where the newest checkpoint has fewer events;
    ///   `LogStorageFault`, `DecodingFault` for a damaged log.
    public func consistencyProof(from oldSize: UInt64) throws -> ConsistencyProofFile {
        let newest = try log.lastCheckpoint()
        guard let kept = newest, oldSize <= kept.size else {
            throw try notSigned("no signed checkpoint holds so many events", newest?.size)
        }
        let hashes =
            oldSize == 0
            ? []
            : try TreeReader(LogTiles(log)).consistencyProof(from: oldSize, to: kept.size).hashes
        return ConsistencyProofFile(
            oldSize: oldSize,
            hashes: hashes,
            checkpoint: try SignedNote.parse(kept.note)
        )
    }

    /// Whether the log extends a checkpoint that somebody noted down.
    ///
    /// - Returns: what is wrong; nil where it does.
    /// - Throws: `NoteFault` for a text that is no checkpoint signed by this ledger's key;
    ///   `LogStorageFault` for a log that cannot be read.
    public func fault(against note: String) throws -> AuditFault? {
        let checkpoint = try SignedNote.parse(note).checkpoint(by: [verifierKey])
        let size = try log.end().size
        guard checkpoint.size <= size else {
            return AuditFault(
                .checkpoint,
                size,
                "the log is cut: it holds \(size) events, the checkpoint given says "
                    + "\(checkpoint.size)"
            )
        }
        let root = try TreeReader(LogTiles(log)).root(size: checkpoint.size)
        guard root == checkpoint.root else {
            return AuditFault(
                .checkpoint,
                nil,
                "the log is a fork: its first \(checkpoint.size) events have root "
                    + "\(root.base64), the checkpoint given says \(checkpoint.root.base64)"
            )
        }
        return nil
    }

    /// The newest checkpoint as it is kept, with what witnesses signed; nil for none.
    public func checkpointNote() throws -> String? { try log.lastCheckpoint()?.note }

    /// Events that the last checkpoint signs; 0: nothing was signed.
    ///
    /// Cost: one small read.
    package func signedSize() throws -> UInt64 { try log.lastCheckpoint()?.size ?? 0 }

    /// Adds what witnesses signed to the kept checkpoint that they saw.
    ///
    /// `lines`: signature lines, or a whole checkpoint with them.
    ///
    /// - Returns: the checkpoint with all its signatures.
    /// - Throws: `NoteFault` where no kept checkpoint is the one that the witnesses signed.
    package func addCosignatures(_ lines: String, of witnesses: [VerifierKey]) throws -> String {
        guard let storage else { throw LedgerFault.onlyRead }
        return try turn.take {
            var refusal: NoteFault?
            for kept in try log.checkpoints().reversed() {
                let note = try SignedNote.parse(kept.note)
                do {
                    guard let cosigned = try note.adding(lines, knownBy: witnesses) else {
                        return kept.note
                    }
                    try storage.keepCheckpoint(size: kept.size, note: cosigned.description)
                    return cosigned.description
                } catch let fault as NoteFault {
                    refusal = fault
                }
            }
            throw refusal ?? NoteFault(.noKnownSignature, "the log has no checkpoint yet")
        }
    }
}
