public import Crypto

/// A named Ed25519 key that notes are verified by (C2SP signed-note, signature type 0x01).
///
/// Its text, the "vkey", is `<name>+<key id in hex>+<base64 of 0x01 and the key>`.
public struct VerifierKey: Sendable {
    /// The signature type Ed25519.
    static let ed25519: UInt8 = 0x01

    /// The name, for a log its origin; recommended is a URL without scheme.
    public let name: String
    /// The first four bytes, big-endian, of SHA-256 of name, 0x0A, 0x01 and key: names the key,
    /// proves nothing.
    public let keyID: UInt32
    /// The Ed25519 key.
    public let publicKey: Curve25519.Signing.PublicKey

    /// Names a key.
    ///
    /// - Throws: ``NoteFault`` `malformedKey` where the name is empty or holds a space, a plus or
    ///   a control character.
    public init(name: String, publicKey: Curve25519.Signing.PublicKey) throws(NoteFault) {
        guard NoteName.isValid(name) else {
            throw NoteFault(.malformedKey, "a key's name has no space and no plus")
        }
        self.name = name
        self.publicKey = publicKey
        keyID = Self.keyID(name: name, encodedKey: Self.encoded(publicKey))
    }

    /// Reads the text of a key.
    ///
    /// - Throws: ``NoteFault`` `malformedKey` where the form, the id or the key's length is wrong,
    ///   `unsupportedKey` where the type is not Ed25519.
    public init(parsing text: String) throws(NoteFault) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count == 8,
            let id = Hexadecimal.decode(String(parts[1])),
            let encoded = Base64.decode(parts[2].utf8), let type = encoded.first
        else {
            throw NoteFault(.malformedKey, "a key is written name+id+base64")
        }
        guard Self.keyID(name: String(parts[0]), encodedKey: encoded) == Self.bigEndian(id) else {
            throw NoteFault(.malformedKey, "the key id does not belong to name and key")
        }
        guard type == Self.ed25519 else {
            throw NoteFault(.unsupportedKey, "signature type \(type) is not supported")
        }
        let key: Curve25519.Signing.PublicKey
        do {
            key = try Curve25519.Signing.PublicKey(rawRepresentation: Array(encoded.dropFirst()))
        } catch {
            throw NoteFault(.malformedKey, "an Ed25519 key has 32 bytes")
        }
        try self.init(name: String(parts[0]), publicKey: key)
    }

    /// The text of the key, to be published.
    public var text: String {
        let id = (0..<4).map { UInt8(truncatingIfNeeded: keyID >> (24 - 8 * $0)) }
        return "\(name)+\(Hexadecimal.encode(id))+\(Base64.encode(Self.encoded(publicKey).span))"
    }

    private static func encoded(_ key: Curve25519.Signing.PublicKey) -> [UInt8] {
        [ed25519] + Array(key.rawRepresentation)
    }

    private static func keyID(name: String, encodedKey: [UInt8]) -> UInt32 {
        let bytes = Array(name.utf8) + [0x0A] + encodedKey
        var hash = SHA256()
        hash.update(bytes.span)
        return bigEndian(hash.finalize().prefix(4))
    }

    static func bigEndian(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension VerifierKey: Hashable, CustomStringConvertible {
    /// Compares the texts byte by byte.
    public static func == (left: VerifierKey, right: VerifierKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Feeds the key id to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(keyID) }

    /// The text of the key.
    public var description: String { text }
}
