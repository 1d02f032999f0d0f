import Encodings

/// A file that proves to anybody that a record stands in a log (C2SP tlog-proof, version 1).
///
/// From outside like any other input: nothing in it is trusted before ``verified(leafHash:by:)``.
public struct InclusionProofFile: Sendable, Equatable {
    /// The record as it stands in the log, so that the file proves by itself; nil where the verifier
    /// has it from elsewhere.
    public var record: [UInt8]?
    /// The sequence of the record.
    public var sequence: UInt64
    /// The siblings on its way to the root.
    package var hashes: [Digest]
    /// The log's checkpoint, with what witnesses signed.
    package var checkpoint: SignedNote

    /// The first line.
    private static let header: Substring = "c2sp.org/tlog-proof@v1"

    /// Makes a proof from its parts.
    package init(
        record: [UInt8]?,
        sequence: UInt64,
        hashes: [Digest],
        checkpoint: SignedNote
    ) {
        self.record = record
        self.sequence = sequence
        self.hashes = hashes
        self.checkpoint = checkpoint
    }

    /// Reads a file.
    ///
    /// - Throws: ``NoteFault`` `malformedProof`, `malformedNote` or `tooLarge`.
    package init(parsing text: String) throws(NoteFault) {
        var (lines, checkpoint) = try ProofText.parts(of: text)
        guard lines.first == Self.header else {
            throw NoteFault(.malformedProof, "the first line is not \(Self.header)")
        }
        lines.removeFirst()
        let extra = "extra "
        if let line = lines.first, line.hasPrefix(extra) {
            guard let bytes = Base64.decode(String(line.dropFirst(extra.count))) else {
                throw NoteFault(.malformedProof, "the line of extra data is not base64")
            }
            record = bytes
            lines.removeFirst()
        }
        guard let first = lines.first, let index = ProofText.number(in: first, after: "index")
        else { throw NoteFault(.malformedProof, "the index is not a decimal number") }
        sequence = index
        hashes = try ProofText.hashes(in: lines.dropFirst())
        self.checkpoint = checkpoint
    }

    /// The file's text.
    public var text: String {
        var lines = [String(Self.header)]
        if let record { lines.append("extra " + Base64.encode(record.span)) }
        lines.append("index \(sequence)")
        lines += hashes.map(\.base64)
        return lines.joined(separator: "\n") + "\n\n" + checkpoint.description
    }

    /// Checks everything: the log's signature, and that the leaf is in the signed tree.
    ///
    /// `keys`: the log's key first, then those of witnesses, each of whom must have signed.
    ///
    /// - Returns: the checkpoint.
    /// - Throws: ``NoteFault`` for a signature that is wrong or lacking, and where the
    ///   proof does not hold.
    package func verified(leafHash: Digest, by keys: [VerifierKey]) throws -> Checkpoint {
        let checkpoint = try checkpoint.checkpoint(by: keys)
        let proof = InclusionProof(leaf: sequence, size: checkpoint.size, hashes: hashes)
        guard proof.holds(leafHash: leafHash, root: checkpoint.root) else {
            throw NoteFault(.notProven, "the record is not where the proof says in the signed tree")
        }
        return checkpoint
    }
}

extension SignedNote {
    /// The checkpoint that all of these keys have signed, of the origin that the first one names.
    ///
    /// - Throws: ``NoteFault`` where a signature is wrong or lacking.
    package func checkpoint(by keys: [VerifierKey]) throws(NoteFault) -> Checkpoint {
        let verified = try verified(by: keys)
        for key in keys where !verified.keys.contains(key) {
            throw NoteFault(.noKnownSignature, "\(key.name) has not signed")
        }
        let checkpoint = try Checkpoint(verified)
        if let log = keys.first, !log.name.isSame(as: checkpoint.origin) {
            throw NoteFault(.malformedCheckpoint, "the checkpoint is another log's")
        }
        return checkpoint
    }
}
