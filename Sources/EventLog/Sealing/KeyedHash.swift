package import Crypto

/// HMAC-SHA256 (RFC 2104) under one key, for many short messages.
///
/// What depends on the key alone is hashed once and copied for each message. swift-crypto's `HMAC`
/// hashes the key anew for each, through generic calls that cost four times the hashing.
package struct KeyedHash: Sendable {
    /// SHA-256 after the key's inner block.
    private let inner: SHA256
    /// SHA-256 after the key's outer block.
    private let outer: SHA256

    /// Bytes of a block of SHA-256: the longest key.
    private static let blockByteCount = 64

    /// Hashes the key's blocks.
    ///
    /// - Precondition: the key has at most 64 bytes; every key of a ledger has 32.
    package init(_ key: SymmetricKey) {
        inner = Self.state(after: key, padding: 0x36)
        outer = Self.state(after: key, padding: 0x5C)
    }

    private static func state(after key: SymmetricKey, padding: UInt8) -> SHA256 {
        var block = StreamKeys.bytes(of: key)
        precondition(block.count <= blockByteCount, "a key has at most one block")
        block += repeatElement(0, count: blockByteCount - block.count)
        for index in block.indices { block[index] ^= padding }
        var hash = SHA256()
        hash.update(block.span)
        return hash
    }

    /// The authentication code of a message, all 32 bytes.
    ///
    /// O(n), no copy of the message.
    package func code(for message: Span<UInt8>) -> Digest {
        var inner = inner
        inner.update(message)
        var outer = outer
        outer.update(Digest(inner.finalize()))
        return Digest(outer.finalize())
    }

    /// HKDF-Expand to 32 bytes with this as the pseudorandom key (RFC 5869, section 2.3).
    func expanded(_ purpose: String) -> SymmetricKey { expanded(Array(purpose.utf8)) }

    private func expanded(_ info: [UInt8]) -> SymmetricKey {
        SymmetricKey(data: code(for: (info + [1]).span).bytes)
    }

    /// The hash under a key derived from this one's (HKDF-Expand), for one purpose and no other.
    ///
    /// `context`: what it is derived for; of one length for a purpose.
    package func derived(_ purpose: String, _ context: [UInt8] = []) -> KeyedHash {
        KeyedHash(expanded(Array(purpose.utf8) + context))
    }

    /// The digest of an event's signal (E1).
    package func signal(environment: UInt8, source: String, id: String) -> SignalDigest {
        var message = [environment]
        message.reserveCapacity(2 + source.utf8.count + id.utf8.count)
        message.append(contentsOf: source.utf8)
        message.append(0)
        message.append(contentsOf: id.utf8)
        return SignalDigest(code(for: message.span))
    }
}

extension SignalDigest {
    /// The first 16 bytes of an authentication code.
    package init(_ code: Digest) {
        self.init(
            high: UInt64(littleEndian: code.words.0),
            low: UInt64(littleEndian: code.words.1)
        )
    }
}
