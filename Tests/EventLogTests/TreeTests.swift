import EventLog
import Testing

// row Z4: the tree itself

private func randomLeaves(_ count: Int, seed: UInt64) -> [Digest] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
        let record = (0..<8).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return TreeHash.leaf(record.span)
    }
}

@Suite struct TreeTests {
    private struct ReferenceTree: Decodable {
        var leavesHex: [String]
        var nodeHashesHex: [[String]]
        var rootsHexBySize: [String]
    }

    @Test(.enabled(if: Vectors.arePresent, Vectors.absence))
    func `the tree has the hashes of the RFC 6962 reference tree`() throws {
        let reference: ReferenceTree = try Vectors.json("rfc6962/reference-tree.json")
        let leaves = try reference.leavesHex.map(bytes).map { TreeHash.leaf($0.span) }
        #expect(leaves.map(\.hex) == reference.nodeHashesHex[0])
        var level = leaves
        for expected in reference.nodeHashesHex.dropFirst() {
            level = stride(from: 0, to: level.count, by: 2).map {
                TreeHash.node(level[$0], level[$0 + 1])
            }
            #expect(level.map(\.hex) == expected)
        }
        var edge = TreeEdge()
        #expect(edge.root.hex == reference.rootsHexBySize[0])
        for (leaf, root) in zip(leaves, reference.rootsHexBySize.dropFirst()) {
            edge.append(leaf)
            #expect(edge.root.hex == root)
        }
        #expect(reference.rootsHexBySize.count == leaves.count + 1)
    }

    @Test func `a record cannot pass for a node`() {
        let leaf = TreeHash.leaf([1].span)
        let forged = leaf.bytes + leaf.bytes
        #expect(TreeHash.leaf(forged.span) != TreeHash.node(leaf, leaf))
    }

    @Test func `edge and tiles have the root of the slow tree at every size to 600`() throws {
        let slow = SlowTree(leaves: randomLeaves(600, seed: 3))
        var writer = TileWriter()
        var tiles = MemoryTiles()
        for size in 0...600 {
            let root = slow.root(0..<size)
            #expect(writer.edge.root == root, "size \(size), seed 3")
            #expect(writer.edge.hashes.count == size.nonzeroBitCount)
            tiles.store(writer.takeChanges())
            #expect(try TreeReader(tiles).edge(size: UInt64(size)) == writer.edge)
            if size < 600 { writer.append(slow.leaves[size]) }
        }
        let reader = TreeReader(tiles)
        for size in 0...600 {
            #expect(try reader.root(size: UInt64(size)) == slow.root(0..<size), "size \(size)")
        }
    }

    @Test func `a stored edge is read back and a damaged one is a fault`() throws {
        var edge = TreeEdge()
        for leaf in randomLeaves(100, seed: 4) {
            let bytes = edge.encoded
            #expect(try TreeEdge(decoding: bytes.span) == edge)
            for damaged in [Array(bytes.dropLast()), bytes + [0], []] {
                #expect(throws: DecodingFault.self) { try TreeEdge(decoding: damaged.span) }
            }
            edge.append(leaf)
        }
    }

    @Test func `leaves in groups of any size make the tiles of leaves one by one`() throws {
        let leaves = randomLeaves(70_000, seed: 5)
        var generator = SeededGenerator(seed: 5)
        var whole = TileWriter()
        for leaf in leaves { whole.append(leaf) }
        var atOnce = MemoryTiles()
        atOnce.store(whole.takeChanges())
        #expect(whole.takeChanges().isEmpty)

        var writer = TileWriter()
        var grown = MemoryTiles()
        var rest = leaves[...]
        while !rest.isEmpty {
            let group = rest.prefix(Int.random(in: 1...700, using: &generator))
            rest = rest.dropFirst(group.count)
            // As after a restart: the writer knows only what was stored.
            let encoded = writer.edge.encoded
            let stored = try TreeEdge(decoding: encoded.span)
            writer = try TileWriter(continuing: stored, tiles: grown)
            for leaf in group { writer.append(leaf) }
            grown.store(writer.takeChanges())
        }
        #expect(grown.tiles == atOnce.tiles)
        #expect(writer.edge == whole.edge)
        #expect(try TreeReader(grown).edge(size: 70_000) == whole.edge)
    }

    @Test func `a writer refuses tiles that disagree with the edge`() throws {
        var writer = TileWriter()
        for leaf in randomLeaves(300, seed: 6) { writer.append(leaf) }
        var tiles = MemoryTiles()
        tiles.store(writer.takeChanges())
        let edge = writer.edge
        _ = try TileWriter(continuing: edge, tiles: tiles)
        for key in [MemoryTiles.Key(level: 0, index: 1), .init(level: 1, index: 0)] {
            var damaged = tiles
            damaged.tiles[key]?.bytes[5] ^= 4
            #expect(throws: DecodingFault.self) {
                try TileWriter(continuing: edge, tiles: damaged)
            }
            damaged.tiles[key]?.bytes.removeLast()
            #expect(throws: DecodingFault.self) {
                try TileWriter(continuing: edge, tiles: damaged)
            }
            damaged.tiles[key] = nil
            #expect(throws: DecodingFault.self) {
                try TileWriter(continuing: edge, tiles: damaged)
            }
        }
    }

    private func bytes(hex: String) throws -> [UInt8] {
        let digits = Array(hex)
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0..<$0 + 2]), radix: 16))
        }
    }
}
