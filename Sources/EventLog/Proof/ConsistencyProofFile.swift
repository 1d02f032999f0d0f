import Encodings

/// A file that proves that a log extends an older checkpoint.
///
/// The form is that of a request to a witness (C2SP tlog-witness, `add-checkpoint`): the old size,
/// the hashes, an empty line, the new checkpoint. So it can be sent to one as it is.
public struct ConsistencyProofFile: Sendable, Equatable {
    /// How many records the older checkpoint has.
    public var oldSize: UInt64
    /// The hashes, in the order of RFC 6962 section 2.1.2.
    package var hashes: [Digest]
    /// The log's newer checkpoint.
    package var checkpoint: SignedNote

    /// Makes a proof from its parts.
    package init(oldSize: UInt64, hashes: [Digest], checkpoint: SignedNote) {
        self.oldSize = oldSize
        self.hashes = hashes
        self.checkpoint = checkpoint
    }

    /// Reads a file.
    ///
    /// - Throws: ``NoteFault`` `malformedProof`, `malformedNote` or `tooLarge`.
    package init(parsing text: String) throws(NoteFault) {
        let (lines, checkpoint) = try ProofText.parts(of: text)
        guard let first = lines.first, let size = ProofText.number(in: first, after: "old") else {
            throw NoteFault(.malformedProof, "the old size is not a decimal number")
        }
        oldSize = size
        hashes = try ProofText.hashes(in: lines.dropFirst())
        self.checkpoint = checkpoint
    }

    /// The file's text.
    public var text: String {
        let lines = ["old \(oldSize)"] + hashes.map(\.base64)
        return lines.joined(separator: "\n") + "\n\n" + checkpoint.description
    }

    /// Checks everything: both checkpoints' signatures, and that the newer tree begins with the
    /// older one.
    ///
    /// `keys`: the log's key first, then those of witnesses, each of whom must have signed the newer.
    ///
    /// - Returns: the newer checkpoint.
    /// - Throws: ``NoteFault`` for a signature that is wrong or lacking, and where the
    ///   proof does not hold.
    package func verified(against old: SignedNote, by keys: [VerifierKey]) throws -> Checkpoint {
        let new = try checkpoint.checkpoint(by: keys)
        let older = try old.checkpoint(by: Array(keys.prefix(1)))
        guard older.size == oldSize else {
            throw NoteFault(.notProven, "the proof is about a checkpoint of \(oldSize) events")
        }
        let proof = ConsistencyProof(from: oldSize, to: new.size, hashes: hashes)
        let holds =
            oldSize == 0
            ? hashes.isEmpty && older.root == TreeHash.emptyRoot
            : proof.holds(oldRoot: older.root, newRoot: new.root)
        guard holds else {
            throw NoteFault(
                .notProven,
                "the log does not extend the older checkpoint: its history was changed"
            )
        }
        return new
    }
}
