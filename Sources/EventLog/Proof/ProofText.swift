/// Lines of proofs: what C2SP tlog-proof and tlog-witness have in common.
enum ProofText {
    /// Hashes of a proof: a tree of 64-bit size is no higher.
    static let hashLimit = 64
    /// Bytes of a proof: a checkpoint, and a record beside it.
    static let byteLimit = SignedNote.byteLimit + (1 << 20)

    /// A number in decimal digits without leading zeros, behind a word and a space.
    static func number(in line: Substring, after word: String) -> UInt64? {
        guard line.hasPrefix(word + " ") else { return nil }
        let digits = line.dropFirst(word.count + 1)
        let isDecimal = digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isDecimal, digits == "0" || !digits.hasPrefix("0") else { return nil }
        return UInt64(digits)
    }

    /// Hashes in base64, a line each.
    static func hashes(in lines: some Sequence<Substring>) throws(NoteFault) -> [Digest] {
        var hashes: [Digest] = []
        for line in lines {
            guard hashes.count < hashLimit, let hash = Digest(base64: String(line)) else {
                throw NoteFault(.malformedProof, "a line of a proof is not a hash")
            }
            hashes.append(hash)
        }
        return hashes
    }

    /// The lines before the first empty one, and the signed checkpoint behind it.
    static func parts(
        of text: String
    ) throws(NoteFault) -> (lines: [Substring], checkpoint: SignedNote) {
        guard text.utf8.count <= byteLimit else {
            throw NoteFault(.tooLarge, "a proof has at most \(byteLimit) bytes")
        }
        let utf8 = text.utf8
        let newline = UInt8(ascii: "\n")
        let split = zip(utf8.indices, utf8.indices.dropFirst()).first {
            utf8[$0] == newline && utf8[$1] == newline
        }
        guard let split else {
            throw NoteFault(.malformedProof, "proof and checkpoint are parted by an empty line")
        }
        let lines = text[..<split.0].split(separator: "\n", omittingEmptySubsequences: false)
        let note = String(text[utf8.index(after: split.1)...])
        return (lines, try SignedNote.parse(note))
    }
}
