/// A tile as it is to be stored: its place, and its hashes one after the other.
package struct Tile: Hashable, Sendable {
    /// The place; `level` and `index` are the key, a wider tile replaces a narrower one.
    package var coordinate: TileCoordinate
    /// `coordinate.width` hashes of 32 bytes.
    package var bytes: [UInt8]

    /// Makes a tile.
    package init(coordinate: TileCoordinate, bytes: [UInt8]) {
        self.coordinate = coordinate
        self.bytes = bytes
    }
}

/// Adds leaves to a tree and says which tiles that changes.
///
/// Holds the edge and the last, partial tile of each level (at most 8 KiB a level), so a commit
/// reads nothing back. Tiles above level 0 come from the hashes that the edge computes anyway.
///
///     var writer = TileWriter()
///     for leaf in leaves { writer.append(leaf) }
///     for tile in writer.takeChanges() { store(tile) }
package struct TileWriter: Sendable {
    /// The right edge of the tree so far; it has the size and the root.
    package private(set) var edge: TreeEdge

    /// The partial tile of each level; empty where the level ends with a full tile.
    private var partial: [[UInt8]]
    private var hasChanged: [Bool]
    private var completed: [Tile] = []

    /// Starts an empty tree.
    package init() {
        edge = TreeEdge()
        partial = Array(repeating: [], count: TileCoordinate.lastLevel + 1)
        hasChanged = Array(repeating: false, count: TileCoordinate.lastLevel + 1)
    }

    /// Continues a stored tree.
    ///
    /// Stored tiles and stored edge are two records of one tree; they are compared here.
    ///
    /// - Parameters:
    ///   - edge: the stored edge.
    ///   - tiles: the stored tiles; one partial tile a level is read, at most eight.
    /// - Throws: ``DecodingFault`` where a tile is missing, too short or disagrees with the edge;
    ///   whatever `tiles` throws.
    package init(continuing edge: TreeEdge, tiles: some TileSource) throws {
        self.init()
        let reader = TreeReader(tiles)
        guard try reader.edge(size: edge.size) == edge else {
            throw DecodingFault(what: "tiles and edge at size \(edge.size) disagree", offset: 0)
        }
        for coordinate in TileCoordinate.partialTiles(size: edge.size) {
            partial[coordinate.level] = try reader.bytes(of: coordinate)
        }
        self.edge = edge
    }

    /// Adds the leaf hash of the next record.
    ///
    /// O(1) hashes on average.
    package mutating func append(_ leaf: Digest) {
        var edge = self.edge
        let sizeBefore = edge.size
        self.edge = TreeEdge()  // Handed over, so that its array is not copied.
        edge.append(leaf) { height, hash in
            guard height.isMultiple(of: TileCoordinate.height) else { return }
            extend(level: height / TileCoordinate.height, by: hash, sizeBefore: sizeBefore)
        }
        self.edge = edge
    }

    /// The tiles changed since the last call, full ones in the order in which they filled, then
    /// the partial ones from level 0 up; afterwards nothing counts as changed.
    package mutating func takeChanges() -> [Tile] {
        var changes = completed
        completed = []
        changes += partialTiles.filter { hasChanged[$0.coordinate.level] }
        for level in hasChanged.indices { hasChanged[level] = false }
        return changes
    }

    /// The partial tiles that end the tree now, changed or not, from level 0 up.
    package var partialTiles: [Tile] {
        TileCoordinate.partialTiles(size: edge.size).map {
            Tile(coordinate: $0, bytes: partial[$0.level])
        }
    }

    private mutating func extend(level: Int, by hash: Digest, sizeBefore: UInt64) {
        hash.append(to: &partial[level])
        hasChanged[level] = true
        guard partial[level].count == TileCoordinate.fullWidth * Digest.byteCount else { return }
        // The leaf being added completes this tile, so its index counts those before it.
        let index = sizeBefore >> UInt64(TileCoordinate.height * (level + 1))
        let coordinate = TileCoordinate(level: level, index: index)
        completed.append(Tile(coordinate: coordinate, bytes: partial[level]))
        partial[level].removeAll(keepingCapacity: true)
    }
}
