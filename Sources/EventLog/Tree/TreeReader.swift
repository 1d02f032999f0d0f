/// Where stored tiles come from: a transaction, a directory, a server.
package protocol TileSource {
    /// The hashes of a tile as last stored, 32 bytes each, or nil where there is none.
    ///
    /// May hold more hashes than a caller's tree has; those are not looked at.
    func tile(level: Int, index: UInt64) throws -> [UInt8]?
}

/// Computes roots and proofs from stored tiles, for any size up to that of the stored tree.
///
/// What it computes is only as good as the tiles: compare with a verified checkpoint.
package struct TreeReader<Source: TileSource> {
    private let source: Source

    /// Reads from a source.
    package init(_ source: Source) {
        self.source = source
    }

    /// The right edge of the tree of the first `size` leaves.
    ///
    /// Reads at most eight tiles.
    ///
    /// - Throws: ``DecodingFault`` where a tile is missing or short; whatever the source throws.
    package func edge(size: UInt64) throws -> TreeEdge {
        var hashes: [Digest] = []
        for coordinate in TileCoordinate.partialTiles(size: size).reversed() {
            let tile = try bytes(of: coordinate)
            hashes += Self.edge(of: tile.span, hashes: 0..<coordinate.width).hashes
        }
        return TreeEdge(size: size, hashes: hashes)
    }

    /// The root of the tree of the first `size` leaves.
    ///
    /// Reads at most eight tiles.
    ///
    /// - Throws: ``DecodingFault`` where a tile is missing or short; whatever the source throws.
    package func root(size: UInt64) throws -> Digest {
        try edge(size: size).root
    }

    /// The hash of one leaf.
    ///
    /// - Throws: ``DecodingFault`` where its tile is missing or short; whatever the source throws.
    package func leafHash(_ leaf: UInt64) throws -> Digest {
        try completeSubtree(height: 0, index: leaf)
    }

    /// The hash of the leaves `start..<start + count`, a subtree of RFC 6962 section 2.1.
    func subtree(start: UInt64, count: UInt64) throws -> Digest {
        guard count & (count - 1) != 0 else {
            let height = count.trailingZeroBitCount
            return try completeSubtree(height: height, index: start >> UInt64(height))
        }
        let left = count.largestPowerOfTwoBelow
        return TreeHash.node(
            try subtree(start: start, count: left),
            try subtree(start: start + left, count: count - left)
        )
    }

    /// The needed prefix of a stored tile.
    func bytes(of coordinate: TileCoordinate) throws -> [UInt8] {
        let tile = try source.tile(level: coordinate.level, index: coordinate.index) ?? []
        let count = coordinate.width * Digest.byteCount
        guard tile.count >= count else {
            let what = "\(coordinate.path) is missing or short"
            throw DecodingFault(what: what, offset: tile.count)
        }
        return tile.count == count ? tile : Array(tile.prefix(count))
    }

    /// The root of the complete subtree of a height; from one tile, at most 127 hashes.
    private func completeSubtree(height: Int, index: UInt64) throws -> Digest {
        let (level, rest) = height.quotientAndRemainder(dividingBy: TileCoordinate.height)
        let first = index << UInt64(rest)
        let place = Int(first % UInt64(TileCoordinate.fullWidth))
        let end = place + 1 << rest
        let coordinate = TileCoordinate(
            level: level,
            index: first / UInt64(TileCoordinate.fullWidth),
            width: end
        )
        let tile = try bytes(of: coordinate)
        return Self.edge(of: tile.span, hashes: place..<end).root
    }

    private static func edge(of tile: Span<UInt8>, hashes: Range<Int>) -> TreeEdge {
        var edge = TreeEdge()
        for place in hashes { edge.append(Digest(tile, at: place * Digest.byteCount)) }
        return edge
    }
}

extension UInt64 {
    /// The split of RFC 6962 section 2.1: for n > 1 the largest power of two smaller than n.
    var largestPowerOfTwoBelow: UInt64 {
        1 << UInt64(63 - (self - 1).leadingZeroBitCount)
    }
}
