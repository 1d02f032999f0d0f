/// Which tile of the tree: its level, and its place there.
package struct TileKey: Hashable, Sendable {
    /// 0 holds leaf hashes; see ``levels``.
    package var level: Int
    /// From 0 on; level 0 has a tile for each bundle.
    package var index: UInt64

    /// Levels of a tree of fewer than 2^64 leaves.
    package static let levels = 0...7

    /// Names a tile.
    package init(level: Int, index: UInt64) {
        self.level = level
        self.index = index
    }
}
