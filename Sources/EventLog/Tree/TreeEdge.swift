/// The right edge of a tree: all that is needed to add a leaf or to know the root.
///
/// One hash for each complete subtree, from the largest (leftmost) to the smallest: as many as the
/// size has bits set, at most 64. See RFC 9162 section 2.1.2.
package struct TreeEdge: Sendable, Equatable {
    /// How many leaves the tree has.
    package private(set) var size: UInt64

    /// The roots of the complete subtrees, the largest first.
    package private(set) var hashes: [Digest]

    /// The edge of the empty tree.
    package init() {
        size = 0
        hashes = []
    }

    /// Puts an edge together from its parts.
    ///
    /// - Precondition: there are as many hashes as `size` has bits set.
    init(size: UInt64, hashes: [Digest]) {
        precondition(hashes.count == size.nonzeroBitCount, "one hash a bit of the size")
        self.size = size
        self.hashes = hashes
    }

    /// Puts an edge together from parts that came from outside; nil where they are no edge.
    ///
    /// What it is worth shows only when its root is compared with one that is known.
    package init?(size: UInt64, checking hashes: [Digest]) {
        guard hashes.count == size.nonzeroBitCount, size < .max else { return nil }
        self.init(size: size, hashes: hashes)
    }

    /// Joins the edge over the roots of complete subtrees with that of the leaves behind them.
    ///
    /// So subtrees can be computed apart from one another, on all cores.
    ///
    /// - Parameters:
    ///   - subtrees: The tree whose leaves are the roots of complete subtrees.
    ///   - height: The height of each: it has two to the power of it leaves.
    ///   - rest: The leaves behind, fewer than one more subtree has.
    /// - Precondition: `rest` is smaller than a subtree.
    package init(of subtrees: TreeEdge, height: Int, followedBy rest: TreeEdge) {
        precondition(rest.size >> UInt64(height) == 0, "the rest is less than a subtree")
        // Fits: sizes of trees that were built leaf by leaf.
        size = subtrees.size << UInt64(height) + rest.size
        hashes = subtrees.hashes + rest.hashes
    }

    /// Adds a leaf.
    ///
    /// On average one hash is computed for it, at most 64.
    ///
    /// - Precondition: the tree has fewer than 2^64 - 1 leaves.
    package mutating func append(_ leaf: Digest) {
        append(leaf) { _, _ in }
    }

    /// Adds a leaf and reports the subtrees that it completes, from itself (height 0) upwards.
    mutating func append(_ leaf: Digest, completed: (_ height: Int, Digest) -> Void) {
        var hash = leaf
        completed(0, hash)
        for height in 0..<size.trailingOneBitCount {
            hash = TreeHash.node(hashes.removeLast(), hash)
            completed(height + 1, hash)
        }
        hashes.append(hash)
        size += 1  // Fits: the precondition.
    }

    /// The root hash of the tree (RFC 6962 section 2.1); at most 63 hashes are computed for it.
    package var root: Digest {
        guard var root = hashes.last else { return TreeHash.emptyRoot }
        for hash in hashes.dropLast().reversed() { root = TreeHash.node(hash, root) }
        return root
    }
}

extension TreeEdge {
    /// The stored form: the size, 8 bytes little-endian, then the hashes, the largest subtree first.
    package var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: 8 + hashes.count * Digest.byteCount)
        writer.append(size)
        for hash in hashes { writer.append(hash) }
        return writer.bytes
    }

    /// Reads the stored form.
    ///
    /// - Throws: ``DecodingFault`` where the length is not the one that the size asks for.
    package init(decoding bytes: Span<UInt8>) throws(DecodingFault) {
        var cursor = ByteCursor()
        let size = try cursor.uint64(bytes)
        var hashes: [Digest] = []
        for _ in 0..<size.nonzeroBitCount {
            let range = try cursor.bytes(bytes, count: Digest.byteCount)
            hashes.append(Digest(bytes, at: range.lowerBound))
        }
        try cursor.finish(bytes)
        self.init(size: size, hashes: hashes)
    }
}

extension UInt64 {
    /// How many of the lowest bits are set without a gap.
    fileprivate var trailingOneBitCount: Int { (~self).trailingZeroBitCount }
}
