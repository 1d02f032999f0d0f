/// The three hashes of a Merkle tree (RFC 6962 section 2.1).
///
/// Leaves and nodes begin with different bytes, so that no record can pass for a node.
package enum TreeHash {
    /// The hash of a record: SHA-256 of 0x00 and its bytes as stored.
    ///
    /// O(n), no copy.
    package static func leaf(_ record: Span<UInt8>) -> Digest {
        var hash = HashState()
        hash.update(0x00)
        hash.update(record)
        return hash.digest()
    }

    /// The hash of two neighbours: SHA-256 of 0x01, the left and the right one.
    package static func node(_ left: Digest, _ right: Digest) -> Digest {
        var hash = HashState()
        hash.update(0x01)
        hash.update(left)
        hash.update(right)
        return hash.digest()
    }

    /// The root of the tree without leaves: SHA-256 of nothing.
    package static let emptyRoot = HashState().digest()
}

extension TreeHash {
    /// SHA-256 of the bytes of an evidence or attachment, as a record's header names it.
    ///
    /// O(bytes).
    package static func attached(_ bytes: Span<UInt8>) -> Digest {
        var hash = HashState()
        hash.update(bytes)
        return hash.digest()
    }
}
