import Crypto
import Encodings

/// What a witness signs: that it has seen a checkpoint, and when (C2SP tlog-cosignature, Ed25519).
enum Cosignature {
    /// Seconds since 1970 as a big-endian number, then the signature.
    static let byteCount = 8 + 64

    static func message(_ text: String, at seconds: UInt64) -> [UInt8] {
        Array("cosignature/v1\ntime \(seconds)\n\(text)".utf8)
    }

    /// The time in a cosignature; nil for bytes that are none.
    static func seconds(of bytes: [UInt8]) -> UInt64? {
        guard bytes.count == byteCount else { return nil }
        let seconds = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return seconds <= UInt64(Int64.max) ? seconds : nil
    }
}

extension VerifierKey {
    /// Whether a signature line's bytes are this key's signature of a note's text.
    func accepts(_ signature: [UInt8], of text: String) -> Bool {
        switch kind {
        case .note: return publicKey.isValidSignature(signature, for: Array(text.utf8))
        case .cosignature:
            guard let seconds = Cosignature.seconds(of: signature) else { return false }
            return publicKey.isValidSignature(
                Array(signature.dropFirst(8)),
                for: Cosignature.message(text, at: seconds)
            )
        }
    }
}

extension SignedNote {
    /// Takes in signatures of others that a key is known for, and leaves out what it has already.
    ///
    /// `lines`: signature lines, or a whole note of the same text.
    ///
    /// - Returns: the note with what was added; nil where there was nothing new.
    /// - Throws: ``NoteFault`` where the lines have no signature by a known key, or a wrong one.
    package func adding(
        _ lines: String,
        knownBy keys: [VerifierKey]
    ) throws(NoteFault) -> SignedNote? {
        let given = try Self.signatures(in: lines)
        let bearer = try SignedNote(text: text, signatures: given)
        _ = try bearer.verified(by: keys)
        let isNew: (NoteSignature) -> Bool = { signature in
            !self.signatures.contains(signature) && keys.contains { signature.names($0) }
        }
        let added = given.filter(isNew)
        guard !added.isEmpty else { return nil }
        return try SignedNote(text: text, signatures: signatures + added)
    }

    private static func signatures(in text: String) throws(NoteFault) -> [NoteSignature] {
        // What is no note may be lines of signatures.
        if let note = try? parse(text) { return note.signatures }
        var signatures: [NoteSignature] = []
        for line in Array(text.utf8).split(separator: UInt8(ascii: "\n")) {
            signatures.append(try signature(in: line))
        }
        return signatures
    }
}

extension NoteSignature {
    func names(_ key: VerifierKey) -> Bool {
        keyID == key.keyID && name.isSame(as: key.name)
    }
}
