/// Which tile of a tree: its level, its place on that level and how many hashes it holds.
///
/// C2SP tlog-tiles: the tile at level L and index I holds, for each of up to 256 neighbouring
/// complete subtrees of height 8 L from number 256 I on, the root hash of that subtree.
package struct TileCoordinate: Hashable, Sendable {
    /// How many hashes a full tile holds, and how many records a full bundle.
    package static let fullWidth = 256
    /// The height of a tile: 2 to the power of it is ``fullWidth``.
    static let height = 8
    /// The highest level that a tree of fewer than 2^64 leaves has.
    static let lastLevel = 7

    /// The level, from 0 (leaf hashes) to 7.
    package var level: Int
    /// The place on the level, from 0.
    package var index: UInt64
    /// The number of hashes, from 1 to 256; 256 is a full tile.
    package var width: Int

    /// Names a tile, a full one by default.
    package init(level: Int, index: UInt64, width: Int = TileCoordinate.fullWidth) {
        self.level = level
        self.index = index
        self.width = width
    }

    /// Whether the tile holds all its hashes and never changes again.
    package var isFull: Bool { width == Self.fullWidth }

    /// The path below a log's prefix: `tile/<L>/<N>`, with `.p/<W>` where the tile is partial.
    package var path: String {
        "tile/\(level)/" + Self.place(index, width: width)
    }

    /// Reads what stands behind the level in a path: `<N>`, or `<N>.p/<W>`.
    ///
    /// Nil for a place of another form: there is one way to write each.
    package init?(level: Int, place: String) {
        let parts = place.split(separator: "/", omittingEmptySubsequences: false)
        var groups = parts
        var width = Self.fullWidth
        if parts.count >= 2, parts[parts.count - 2].hasSuffix(".p") {
            guard let partial = Int(parts[parts.count - 1]), partial > 0, partial < width else {
                return nil
            }
            width = partial
            groups.removeLast()
            groups[groups.count - 1] = groups[groups.count - 1].dropLast(2)
        }
        var index: UInt64 = 0
        guard groups.count <= Self.groupLimit else { return nil }
        for (number, group) in groups.enumerated() {
            let digits = number < groups.count - 1 ? group.dropFirst() : group
            guard digits.utf8.count == Self.groupDigits, let value = UInt64(digits) else {
                return nil
            }
            // Fits: six groups are 18 digits, and 64 bits hold every number of 19.
            index = index * 1000 + value
        }
        guard (0...Self.lastLevel).contains(level), Self.place(index, width: width) == place else {
            return nil
        }
        self.init(level: level, index: index, width: width)
    }

    /// Groups of three digits in a path: more leaves than there are.
    private static let groupLimit = 6
    /// Digits of a group.
    private static let groupDigits = 3

    /// The path of a bundle of records: `tile/entries/<N>`, with `.p/<W>` where it is partial.
    ///
    /// The index is a record's sequence divided by 256, the width how many records there are.
    package static func entriesPath(index: UInt64, width: Int = fullWidth) -> String {
        "tile/entries/" + place(index, width: width)
    }

    /// How many hashes the tile at an index has in a tree of `size` leaves; 0 for no such tile.
    ///
    /// A bundle of records has the width of the tile of level 0 at its index.
    package static func width(level: Int, index: UInt64, size: UInt64) -> Int {
        let hashes = size >> UInt64(height * level)
        let before = index.multipliedReportingOverflow(by: UInt64(fullWidth))
        guard !before.overflow, before.partialValue < hashes else { return 0 }
        return Int(min(hashes - before.partialValue, UInt64(fullWidth)))
    }

    /// The partial tile that ends each level of a tree of a size, from level 0 up.
    ///
    /// Levels that end with a full tile, and levels without a tile, are left out.
    package static func partialTiles(size: UInt64) -> [TileCoordinate] {
        (0...lastLevel).compactMap { level in
            let hashes = size >> UInt64(height * level)
            let width = Int(hashes % UInt64(fullWidth))
            guard width > 0 else { return nil }
            return TileCoordinate(level: level, index: hashes / UInt64(fullWidth), width: width)
        }
    }

    /// Three digits a group, all but the last group marked by `x`: 1234067 is `x001/x234/067`.
    static func place(_ index: UInt64, width: Int) -> String {
        var rest = index / 1000
        var path = threeDigits(index % 1000)
        while rest > 0 {
            path = "x\(threeDigits(rest % 1000))/\(path)"
            rest /= 1000
        }
        return width == fullWidth ? path : "\(path).p/\(width)"
    }

    private static func threeDigits(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 3 - digits.utf8.count) + digits
    }
}
