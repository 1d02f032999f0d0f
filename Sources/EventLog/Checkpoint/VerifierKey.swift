package import Crypto
import Encodings

/// A named Ed25519 key that notes are verified by (C2SP signed-note).
///
/// Its text, the "vkey", is `<name>+<key id in hex>+<base64 of the type and the key>`.
package struct VerifierKey: Sendable {
    /// What a key signs: the signature types that are known.
    package enum Kind: UInt8, Sendable {
        /// The text of a note (C2SP signed-note, Ed25519).
        case note = 0x01
        /// A checkpoint that a witness has seen, with the time (C2SP tlog-cosignature, Ed25519).
        case cosignature = 0x04
    }

    /// What the key signs.
    package let kind: Kind
    /// The name, for a log its origin; recommended is a URL without scheme.
    package let name: String
    /// The first four bytes, big-endian, of SHA-256 of name, 0x0A, type and key: names the key,
    /// proves nothing.
    package let keyID: UInt32
    /// The Ed25519 key.
    package let publicKey: Curve25519.Signing.PublicKey

    /// Names a key.
    ///
    /// - Throws: ``NoteFault`` `malformedKey` where the name is empty or holds a space, a plus or
    ///   a control character.
    package init(
        name: String,
        publicKey: Curve25519.Signing.PublicKey,
        kind: Kind = .note
    ) throws(NoteFault) {
        guard NoteName.isValid(name) else {
            throw NoteFault(.malformedKey, "a key's name has no space and no plus")
        }
        self.name = name
        self.publicKey = publicKey
        self.kind = kind
        keyID = Self.keyID(name: name, encodedKey: Self.encoded(publicKey, kind))
    }

    /// Reads the text of a key.
    ///
    /// - Throws: ``NoteFault`` `malformedKey` where the form, the id or the key's length is wrong,
    ///   `unsupportedKey` where the type is none of ``Kind``.
    package init(parsing text: String) throws(NoteFault) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count == 8,
            let id = Hexadecimal.decode(String(parts[1])),
            let encoded = Base64.decode(String(parts[2])), let type = encoded.first
        else {
            throw NoteFault(.malformedKey, "a key is written name+id+base64")
        }
        guard Self.keyID(name: String(parts[0]), encodedKey: encoded) == Self.bigEndian(id) else {
            throw NoteFault(.malformedKey, "the key id does not belong to name and key")
        }
        guard let kind = Kind(rawValue: type) else {
            throw NoteFault(.unsupportedKey, "signature type \(type) is not supported")
        }
        let key: Curve25519.Signing.PublicKey
        do {
            key = try Curve25519.Signing.PublicKey(rawRepresentation: Array(encoded.dropFirst()))
        } catch {
            throw NoteFault(.malformedKey, "an Ed25519 key has 32 bytes")
        }
        try self.init(name: String(parts[0]), publicKey: key, kind: kind)
    }

    /// The text of the key, to be published.
    package var text: String {
        let encoded = Self.encoded(publicKey, kind)
        let id = (0..<4).map { UInt8(truncatingIfNeeded: keyID >> (24 - 8 * $0)) }
        return "\(name)+\(Hexadecimal.encode(id))+\(Base64.encode(encoded.span))"
    }

    private static func encoded(_ key: Curve25519.Signing.PublicKey, _ kind: Kind) -> [UInt8] {
        [kind.rawValue] + Array(key.rawRepresentation)
    }

    private static func keyID(name: String, encodedKey: [UInt8]) -> UInt32 {
        let bytes = Array(name.utf8) + [0x0A] + encodedKey
        return bigEndian(TreeHash.attached(bytes.span).bytes.prefix(4))
    }

    static func bigEndian(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension VerifierKey: Hashable, CustomStringConvertible {
    /// Compares the texts byte by byte.
    package static func == (left: VerifierKey, right: VerifierKey) -> Bool {
        left.text.isSame(as: right.text)
    }

    /// Feeds the key id to a hasher.
    package func hash(into hasher: inout Hasher) { hasher.combine(keyID) }

    /// The text of the key.
    package var description: String { text }
}
