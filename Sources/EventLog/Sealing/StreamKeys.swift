package import Crypto

/// The keys of one stream, derived from its 32 random bytes; whoever destroys these seals it for
/// ever.
package struct StreamKeys: Sendable {
    /// Seals the identity parts of the stream's records.
    package let sealing: SymmetricKey
    /// Makes the tags of the stream's ids.
    package let tagging: SymmetricKey
    /// What the stream's keys are derived from.
    private let root: SymmetricKey

    /// Bytes of a stream's key.
    package static let byteCount = 32

    /// Derives the keys (HKDF-SHA256, RFC 5869).
    package init(_ key: SymmetricKey) {
        root = key
        let hash = KeyedHash(key)
        sealing = hash.expanded("entitlement-ledger seal v1")
        tagging = hash.expanded("entitlement-ledger tag v1")
    }

    /// Takes part in the keys of evidence that names the stream; derived where it is asked for.
    var evidence: SymmetricKey { KeyedHash(root).expanded("entitlement-ledger evidence v1") }

    /// The bytes of a key, for wrapping it under another.
    package static func bytes(of key: SymmetricKey) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(copying: key)
        return bytes
    }

    /// An 8-byte tag of an id: compares within the stream, says nothing without the key.
    package func tag(_ id: String) -> UInt64 {
        UInt64(littleEndian: KeyedHash(tagging).code(for: id).words.0)
    }
}
