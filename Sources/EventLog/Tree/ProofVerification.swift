import Encodings

/// Proof that one record is in a tree: the hashes of the siblings on its way to the root.
///
/// From outside like any other input: nothing in it is trusted, and no proof can trap.
package struct InclusionProof: Hashable, Sendable {
    /// The sequence of the record, from 0.
    package var leaf: UInt64
    /// How many leaves the tree has.
    package var size: UInt64
    /// The siblings, from the leaf upwards.
    package var hashes: [Digest]

    /// Makes a proof from its parts.
    package init(leaf: UInt64, size: UInt64, hashes: [Digest]) {
        self.leaf = leaf
        self.size = size
        self.hashes = hashes
    }

    /// Whether a record with this leaf hash is where the proof says, in the tree of this root.
    ///
    /// RFC 9162 section 2.1.3.2. At most 64 hashes are computed.
    package func holds(leafHash: Digest, root: Digest) -> Bool {
        guard leaf < size else { return false }
        var place = leaf
        var last = size - 1
        var hash = leafHash
        for sibling in hashes {
            guard last > 0 else { return false }
            if place & 1 == 1 || place == last {
                hash = TreeHash.node(sibling, hash)
                let skipped = place.trailingZeroBitCount
                if place & 1 == 0 { (place, last) = (place >> skipped, last >> skipped) }
            } else {
                hash = TreeHash.node(hash, sibling)
            }
            (place, last) = (place >> 1, last >> 1)
        }
        return last == 0 && hash == root
    }
}

/// Proof that one tree is a prefix of another, so that nothing in it was changed or taken away.
///
/// From outside like any other input: nothing in it is trusted, and no proof can trap.
package struct ConsistencyProof: Hashable, Sendable {
    /// How many leaves the prefix has.
    package var oldSize: UInt64
    /// How many leaves the whole has.
    package var newSize: UInt64
    /// The hashes, in the order of RFC 6962 section 2.1.2.
    package var hashes: [Digest]

    /// Makes a proof from its parts.
    package init(from oldSize: UInt64, to newSize: UInt64, hashes: [Digest]) {
        self.oldSize = oldSize
        self.newSize = newSize
        self.hashes = hashes
    }

    /// Whether the tree of the new root begins with the tree of the old one.
    ///
    /// RFC 9162 section 2.1.4.2. Equal sizes: the roots are equal and the proof is empty. An old
    /// size of 0 with a larger new one is refused: every tree begins with the empty one, so there
    /// is nothing to prove.
    package func holds(oldRoot: Digest, newRoot: Digest) -> Bool {
        guard oldSize < newSize else {
            return oldSize == newSize && hashes.isEmpty && oldRoot == newRoot
                && (oldSize > 0 || oldRoot == TreeHash.emptyRoot)
        }
        guard oldSize > 0 else { return false }
        // A complete old tree is itself the first node of the way up.
        let isComplete = oldSize & (oldSize - 1) == 0
        let path = isComplete ? [oldRoot] + hashes : hashes
        return climb(path, oldRoot: oldRoot, newRoot: newRoot)
    }

    /// Folds the path into both roots at once.
    private func climb(_ path: [Digest], oldRoot: Digest, newRoot: Digest) -> Bool {
        guard let first = path.first else { return false }
        let skipped = (~(oldSize - 1)).trailingZeroBitCount
        var place = (oldSize - 1) >> skipped
        var last = (newSize - 1) >> skipped
        var (oldHash, newHash) = (first, first)
        for hash in path.dropFirst() {
            guard last > 0 else { return false }
            if place & 1 == 1 || place == last {
                oldHash = TreeHash.node(hash, oldHash)
                newHash = TreeHash.node(hash, newHash)
                let rise = place.trailingZeroBitCount
                if place & 1 == 0 { (place, last) = (place >> rise, last >> rise) }
            } else {
                newHash = TreeHash.node(newHash, hash)
            }
            (place, last) = (place >> 1, last >> 1)
        }
        return last == 0 && oldHash == oldRoot && newHash == newRoot
    }
}
