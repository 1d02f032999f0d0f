package import Crypto

/// HMAC-SHA256 (RFC 2104) under one key, for many short messages.
///
/// What depends on the key alone is hashed once and copied for each message. swift-crypto's `HMAC`
/// hashes the key anew for each, through generic calls that cost four times the hashing.
package struct KeyedHash: Sendable {
    /// SHA-256 after the key's inner block.
    private let inner: HashState
    /// SHA-256 after the key's outer block.
    private let outer: HashState

    /// Hashes the key's blocks.
    ///
    /// - Precondition: the key has at most 64 bytes; every key of a ledger has 32.
    package init(_ key: SymmetricKey) {
        inner = Self.state(after: key, padding: 0x36)
        outer = Self.state(after: key, padding: 0x5C)
    }

    /// HKDF-Extract without a salt, whose place zeros take (RFC 5869, section 2.2).
    init(extractedFrom material: [UInt8]) {
        self.init(SymmetricKey(data: Self.unsalted.code(for: material.span).bytes))
    }

    private static let unsalted = KeyedHash(
        SymmetricKey(data: [UInt8](repeating: 0, count: Digest.byteCount))
    )

    private static func state(after key: SymmetricKey, padding: UInt8) -> HashState {
        // A block of SHA-256: the longest key.
        var block = InlineArray<64, UInt8>(repeating: padding)
        block.combine(with: key)
        var hash = HashState()
        hash.update(block.span)
        return hash
    }

    /// The authentication code of a message, all 32 bytes.
    ///
    /// O(n), no copy of the message.
    package func code(for message: Span<UInt8>) -> Digest {
        var inner = inner
        inner.update(message)
        return code(of: inner)
    }

    /// The authentication code of a text.
    func code(for text: String) -> Digest {
        var inner = inner
        inner.update(text)
        return code(of: inner)
    }

    /// `inner`: after the message.
    private func code(of inner: HashState) -> Digest {
        var outer = outer
        outer.update(inner.digest())
        return outer.digest()
    }

    /// HKDF-Expand to 32 bytes with this as the pseudorandom key (RFC 5869, section 2.3).
    func expanded(_ purpose: String, _ context: [UInt8] = []) -> SymmetricKey {
        var inner = inner
        inner.update(purpose)
        inner.update(context.span)
        // The number of the block, of which there is one.
        inner.update(1)
        return SymmetricKey(data: code(of: inner).bytes)
    }

    /// The hash under a key derived from this one's (HKDF-Expand), for one purpose and no other.
    ///
    /// `context`: what it is derived for; of one length for a purpose.
    package func derived(_ purpose: String, _ context: [UInt8] = []) -> KeyedHash {
        KeyedHash(expanded(purpose, context))
    }

    /// The digest of an event's signal (E1).
    package func signal(environment: UInt8, source: String, id: String) -> SignalDigest {
        var inner = inner
        inner.update(environment)
        inner.update(source)
        inner.update(0)
        inner.update(id)
        return SignalDigest(code(of: inner))
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
