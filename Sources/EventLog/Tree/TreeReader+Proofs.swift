extension TreeReader {
    /// Proves that a leaf belongs to the tree of the first `size` leaves (RFC 6962 section 2.1.1).
    ///
    /// At most 64 hashes; O(log size) tiles are read. `leaf` is the sequence of the record.
    ///
    /// - Throws: ``DecodingFault`` where the leaf is not in that tree, or where a tile is missing
    ///   or short; whatever the source throws.
    package func inclusionProof(leaf: UInt64, size: UInt64) throws -> InclusionProof {
        guard leaf < size else {
            throw DecodingFault(what: "a tree of \(size) has no leaf \(leaf)", offset: 0)
        }
        var hashes: [Digest] = []
        var start: UInt64 = 0
        var count = size
        while count > 1 {  // From the root down, so the siblings come out in reverse.
            let left = count.largestPowerOfTwoBelow
            if leaf < start + left {
                hashes.append(try subtree(start: start + left, count: count - left))
                count = left
            } else {
                hashes.append(try subtree(start: start, count: left))
                start += left
                count -= left
            }
        }
        return InclusionProof(leaf: leaf, size: size, hashes: hashes.reversed())
    }

    /// Proves that one tree is a prefix of another (RFC 6962 section 2.1.2).
    ///
    /// Empty where the sizes are equal; O(log size) tiles are read. The old size is at least 1:
    /// an empty tree proves nothing.
    ///
    /// - Throws: ``DecodingFault`` where `oldSize` is 0 or above `newSize`, or where a tile is
    ///   missing or short; whatever the source throws.
    package func consistencyProof(
        from oldSize: UInt64,
        to newSize: UInt64
    ) throws -> ConsistencyProof {
        guard oldSize > 0, oldSize <= newSize else {
            throw DecodingFault(what: "no proof from \(oldSize) to \(newSize)", offset: 0)
        }
        var hashes: [Digest] = []
        var start: UInt64 = 0
        var count = newSize
        while oldSize != start + count {
            let left = count.largestPowerOfTwoBelow
            if oldSize <= start + left {
                hashes.append(try subtree(start: start + left, count: count - left))
                count = left
            } else {
                hashes.append(try subtree(start: start, count: left))
                start += left
                count -= left
            }
        }
        // The verifier knows the old root; it needs the last subtree only where that is another.
        if start > 0 { hashes.append(try subtree(start: start, count: count)) }
        return ConsistencyProof(from: oldSize, to: newSize, hashes: hashes.reversed())
    }
}
