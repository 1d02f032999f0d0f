import Crypto
import Encodings
import EventLog
import Testing

/// A log with a key, a witness and a stranger.
private struct ProvenLog {
    let log = MemoryLog()
    let signer: NoteSigner
    let witness: Curve25519.Signing.PrivateKey
    let witnessKey: VerifierKey
    private(set) var notes: [SignedNote] = []

    init(_ sizes: [Int]) throws {
        func key(_ byte: UInt8) throws -> Curve25519.Signing.PrivateKey {
            try .init(rawRepresentation: [UInt8](repeating: byte, count: 32))
        }
        signer = try NoteSigner(name: "ledger.test/log", privateKey: key(1))
        witness = try key(2)
        witnessKey = try VerifierKey(
            name: "witness.test/w1",
            publicKey: witness.publicKey,
            kind: .cosignature
        )
        for size in sizes {
            let entries = (Int(log.end().size)..<size).map { Self.entry($0) }
            try log.append(entries: entries)
            notes.append(try signer.checkpoint(of: log))
        }
    }

    static func entry(_ number: Int) -> [UInt8] { Array("entry \(number)".utf8) }

    func proof(of sequence: UInt64, _ note: SignedNote) throws -> InclusionProofFile {
        let proof = try TreeReader(log).inclusionProof(leaf: sequence, size: log.end().size)
        return InclusionProofFile(
            record: Self.entry(Int(sequence)),
            sequence: sequence,
            hashes: proof.hashes,
            checkpoint: note
        )
    }

    /// A witness's line (C2SP tlog-cosignature): big-endian seconds and signature.
    func cosignature(of note: SignedNote, at seconds: UInt64, by key: VerifierKey) throws -> String
    {
        let message = "cosignature/v1\ntime \(seconds)\n" + note.text
        let time = (0..<8).map { UInt8(truncatingIfNeeded: seconds >> (56 - 8 * UInt64($0))) }
        let id = (0..<4).map { UInt8(truncatingIfNeeded: key.keyID >> (24 - 8 * UInt32($0))) }
        let bytes = try id + time + Array(witness.signature(for: Array(message.utf8)))
        return "\u{2014} \(key.name) \(Base64.encode(bytes.span))\n"
    }
}

struct `A file that proves` {
    // row Z4
    @Test func `that a record stands in the log says nothing else when a byte is changed`() throws {
        let proven = try ProvenLog([700])
        let proof = try proven.proof(of: 345, proven.notes[0])
        let text = proof.text
        #expect(text.hasPrefix("c2sp.org/tlog-proof@v1\nextra "))
        let parsed = try InclusionProofFile(parsing: text)
        #expect(parsed == proof)
        let keys = [proven.signer.verifierKey]
        #expect(Self.isProven(text, keys), "the control")
        var bytes = Array(text.utf8)
        for place in bytes.indices {
            let whole = bytes[place]
            for bit in [UInt8(1), 0x10] {
                bytes[place] = whole ^ bit
                let changed = String(decoding: bytes, as: UTF8.self)
                #expect(!Self.isProven(changed, keys), "byte \(place)")
            }
            bytes[place] = whole
        }
        for count in 0..<bytes.count {
            #expect(!Self.isProven(String(decoding: bytes[..<count], as: UTF8.self), keys))
        }
    }

    private static func isProven(_ text: String, _ keys: [VerifierKey]) -> Bool {
        guard let proof = try? InclusionProofFile(parsing: text), let record = proof.record else {
            return false
        }
        let checkpoint = try? proof.verified(leafHash: TreeHash.leaf(record.span), by: keys)
        return checkpoint != nil
    }

    @Test func `that the log grew holds against each older checkpoint and no other`() throws {
        let sizes = [1, 100, 256, 700]
        let proven = try ProvenLog(sizes)
        let keys = [proven.signer.verifierKey]
        for (place, older) in proven.notes.enumerated() {
            let old = UInt64(sizes[place])
            let hashes = try TreeReader(proven.log).consistencyProof(from: old, to: 700).hashes
            let proof = ConsistencyProofFile(
                oldSize: old,
                hashes: hashes,
                checkpoint: proven.notes[3]
            )
            #expect(try ConsistencyProofFile(parsing: proof.text) == proof)
            #expect(try proof.verified(against: older, by: keys).size == 700)
            // A fork, signed by the same key.
            let root = try #require(TreeDigest(hex: String(repeating: "7", count: 64)))
            let fork = Checkpoint(origin: proven.signer.name, size: old, root: root)
            let forged = try proven.signer.sign(fork.text)
            #expect(throws: NoteFault(.notProven, "")) {
                try proof.verified(against: forged, by: keys)
            }
        }
    }

    // C2SP tlog-cosignature
    @Test func `may ask for the signature of a witness`() throws {
        let proven = try ProvenLog([300])
        let note = proven.notes[0]
        let line = try proven.cosignature(of: note, at: 1_780_000_000, by: proven.witnessKey)
        let cosigned = try #require(try note.adding(line, knownBy: [proven.witnessKey]))
        #expect(cosigned.signatures.count == 2)
        #expect(try cosigned.adding(line, knownBy: [proven.witnessKey]) == nil, "known already")
        let keys = [proven.signer.verifierKey, proven.witnessKey]
        let leaf = TreeHash.leaf(ProvenLog.entry(17).span)
        let proof = try InclusionProofFile(parsing: proven.proof(of: 17, cosigned).text)
        #expect(try proof.verified(leafHash: leaf, by: keys).size == 300)
        // The control: without the line, with a line of another text, and at another time.
        let alone = try proven.proof(of: 17, note)
        #expect(throws: NoteFault(.noKnownSignature, "")) {
            try alone.verified(leafHash: leaf, by: keys)
        }
        let other = try ProvenLog([301]).notes[0]
        #expect(throws: NoteFault(.invalidSignature, "")) {
            try other.adding(line, knownBy: [proven.witnessKey])
        }
        var bytes = try #require(cosigned.signatures.last).bytes
        bytes[7] ^= 1
        let late = NoteSignature(
            name: proven.witnessKey.name,
            keyID: proven.witnessKey.keyID,
            bytes: bytes
        )
        let forged = try SignedNote(text: note.text, signatures: note.signatures + [late])
        #expect(throws: NoteFault(.invalidSignature, "")) { try forged.checkpoint(by: keys) }
    }

    @Test func `has a verifier key for a witness that is another than for a log`() throws {
        let proven = try ProvenLog([])
        let text = proven.witnessKey.text
        #expect(try VerifierKey(parsing: text) == proven.witnessKey)
        #expect(try VerifierKey(parsing: text).kind == .cosignature)
        let same = try VerifierKey(name: "witness.test/w1", publicKey: proven.witness.publicKey)
        #expect(same != proven.witnessKey)
        #expect(same.keyID != proven.witnessKey.keyID)
    }
}
