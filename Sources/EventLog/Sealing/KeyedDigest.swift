public import Crypto

/// Keyed digests (HMAC-SHA256, RFC 2104), cut to the length that is needed.
public enum KeyedDigest {
    /// All 32 bytes.
    public static func bytes(_ message: [UInt8], key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    /// The digest of an event's signal (E1).
    public static func signal(
        environment: UInt8,
        source: String,
        id: String,
        secret: SymmetricKey
    ) -> SignalDigest {
        var message = [environment]
        message.reserveCapacity(2 + source.utf8.count + id.utf8.count)
        message.append(contentsOf: source.utf8)
        message.append(0)
        message.append(contentsOf: id.utf8)
        let digest = bytes(message, key: secret)
        return SignalDigest(high: digest.span.uint64(at: 0), low: digest.span.uint64(at: 8))
    }
}
