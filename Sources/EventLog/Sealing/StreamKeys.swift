public import Crypto

/// The keys of one stream, derived from its 32 random bytes; whoever destroys these seals it for
/// ever.
public struct StreamKeys: Sendable {
    /// Seals the identity parts of the stream's records.
    public let sealing: SymmetricKey
    /// Makes the tags of the stream's ids.
    public let tagging: SymmetricKey
    /// Takes part in the keys of evidence that names the stream.
    let evidence: SymmetricKey

    /// Bytes of a stream's key.
    public static let byteCount = 32

    /// Derives the keys (HKDF-SHA256, RFC 5869).
    public init(_ key: SymmetricKey) {
        sealing = Self.derive(key, "entitlement-ledger seal v1")
        tagging = Self.derive(key, "entitlement-ledger tag v1")
        evidence = Self.derive(key, "entitlement-ledger evidence v1")
    }

    private static func derive(_ key: SymmetricKey, _ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.expand(
            pseudoRandomKey: key,
            info: Array(purpose.utf8),
            outputByteCount: byteCount
        )
    }

    /// The bytes of a key, for wrapping it under another.
    public static func bytes(of key: SymmetricKey) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(copying: key)
        return bytes
    }

    /// An 8-byte tag of an id: compares within the stream, says nothing without the key.
    public func tag(_ id: String) -> UInt64 {
        KeyedDigest.bytes(Array(id.utf8), key: tagging).span.uint64(at: 0)
    }
}
