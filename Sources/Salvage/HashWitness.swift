import EventLog

/// The leaf hashes of a log, as far as surviving tiles still say them.
///
/// From the tree's edge down, each tile is held against the hash above it; where that is lost too, a
/// tile that survived is taken as it is. Holds the roots of the bundles, 32 bytes for 256 records.
struct HashWitness: Sendable {
    private let sources: [any DamagedSource]
    private let edge: TreeEdge?
    /// Of each level from 1 on the hashes that are known.
    private var known: [[UInt64: Digest]] = Array(repeating: [:], count: TileKey.levels.count + 1)

    /// Reads the tiles above the leaves.
    ///
    /// `edge`: the tree's, where it survived. `size`: of the log.
    init(_ sources: [any DamagedSource], edge: TreeEdge?, size: UInt64) throws {
        self.sources = sources
        self.edge = edge?.size == size ? edge : nil
        for level in TileKey.levels.reversed() where level > 0 {
            try read(level, count: size >> UInt64(8 * level))
        }
    }

    private mutating func read(_ level: Int, count: UInt64) throws {
        let width = UInt64(TileCoordinate.fullWidth)
        var index: UInt64 = 0
        while index * width < count {
            let hashes = Int(min(width, count - index * width))
            if let tile = try tile(TileKey(level: level, index: index), width: hashes) {
                for (place, hash) in tile.enumerated() {
                    known[level][index * width + UInt64(place)] = hash
                }
            }
            index += 1
        }
    }

    /// The hashes of a bundle's records; nil where no tile of them survived.
    func leaves(ofBundle bundle: UInt64, width: Int) throws -> [Digest]? {
        try tile(TileKey(level: 0, index: bundle), width: width)
    }

    /// The root over a full bundle's records; nil where it is not known.
    func root(ofBundle bundle: UInt64) -> Digest? { known[1][bundle] }

    /// Whether the hashes of a full bundle fit what is known above them.
    func agrees(_ leaves: [Digest], bundle: UInt64) -> Bool {
        fits(leaves, TileKey(level: 0, index: bundle))
    }

    /// The roots of the complete subtrees of the records behind the last full bundle, the largest
    /// first; nil where the tree's edge is lost.
    var tailRoots: [Digest]? { edge.map { Self.part(of: $0, level: 0) } }

    /// The first tile of a place that fits the hashes above it.
    private func tile(_ key: TileKey, width: Int) throws -> [Digest]? {
        for source in sources {
            for bytes in try source.tiles(key) where bytes.count >= width * Digest.byteCount {
                let hashes = (0..<width).map { Digest(bytes.span, at: $0 * Digest.byteCount) }
                if fits(hashes, key) { return hashes }
            }
        }
        return nil
    }

    private func fits(_ hashes: [Digest], _ key: TileKey) -> Bool {
        let own = TreeEdge(leaves: hashes)
        if hashes.count == TileCoordinate.fullWidth {
            guard let above = known[key.level + 1][key.index] else { return true }
            return above == own.root
        }
        guard let edge else { return true }
        return own.hashes == Self.part(of: edge, level: key.level)
    }

    /// The hashes of an edge that lie within the last, partial tile of a level.
    private static func part(of edge: TreeEdge, level: Int) -> [Digest] {
        let before = level < TileKey.levels.upperBound ? edge.size >> UInt64(8 * level + 8) : 0
        let count = (edge.size >> UInt64(8 * level) & 0xFF).nonzeroBitCount
        return Array(edge.hashes.dropFirst(before.nonzeroBitCount).prefix(count))
    }
}

extension TreeEdge {
    /// The edge of a tree of some leaves.
    init(leaves: some Sequence<Digest>) {
        self.init()
        for leaf in leaves { append(leaf) }
    }
}
