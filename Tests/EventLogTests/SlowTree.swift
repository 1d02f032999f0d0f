import EventLog

/// The Merkle tree as RFC 6962 section 2.1 writes it down: recursive, slow, obvious.
struct SlowTree {
    var leaves: [Digest]

    func root(_ range: Range<Int>) -> Digest {
        switch range.count {
        case 0: return TreeHash.emptyRoot
        case 1: return leaves[range.lowerBound]
        default:
            let middle = range.lowerBound + split(range.count)
            let left = root(range.lowerBound..<middle)
            return TreeHash.node(left, root(middle..<range.upperBound))
        }
    }

    /// PATH(m, D[n]) of section 2.1.1.
    func path(_ leaf: Int, _ range: Range<Int>) -> [Digest] {
        guard range.count > 1 else { return [] }
        let middle = range.lowerBound + split(range.count)
        let (left, right) = (range.lowerBound..<middle, middle..<range.upperBound)
        return leaf < middle
            ? path(leaf, left) + [root(right)] : path(leaf, right) + [root(left)]
    }

    /// SUBPROOF(m, D[n], b) of section 2.1.2; `old` is where the old tree ends.
    func subproof(_ old: Int, _ range: Range<Int>, _ isKnown: Bool) -> [Digest] {
        guard old < range.upperBound else { return isKnown ? [] : [root(range)] }
        let middle = range.lowerBound + split(range.count)
        let (left, right) = (range.lowerBound..<middle, middle..<range.upperBound)
        return old <= middle
            ? subproof(old, left, isKnown) + [root(right)]
            : subproof(old, right, false) + [root(left)]
    }

    private func split(_ count: Int) -> Int {
        var power = 1
        while power * 2 < count { power *= 2 }
        return power
    }
}

/// Tiles in memory, as a storage would hold them.
struct MemoryTiles: TileSource {
    struct Key: Hashable {
        var level: Int
        var index: UInt64
    }

    var tiles: [Key: Tile] = [:]

    mutating func store(_ changes: [Tile]) {
        for tile in changes {
            let key = Key(level: tile.coordinate.level, index: tile.coordinate.index)
            tiles[key] = tile
        }
    }

    func tile(level: Int, index: UInt64) -> [UInt8]? {
        tiles[Key(level: level, index: index)]?.bytes
    }
}

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension Digest {
    /// The digest with one of its 256 bits changed.
    func flipping(bit: Int) -> Digest {
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        return Digest(changed.span)
    }
}

/// A file that also imports Crypto, which has a protocol `Digest`, says this instead.
typealias TreeDigest = Digest
