import Encodings
import EventLog
import Foundation
import Testing

// row Z4: proofs, ours and other people's

@Suite struct ProofTests {
    private static let slow: SlowTree = {
        var generator = SeededGenerator(seed: 7)
        return SlowTree(
            leaves: (0..<600).map { _ in
                let record = (0..<9).map { _ in UInt8.random(in: 0...255, using: &generator) }
                return TreeHash.leaf(record.span)
            }
        )
    }()

    private static let tiles: MemoryTiles = {
        var writer = TileWriter()
        for leaf in slow.leaves { writer.append(leaf) }
        var tiles = MemoryTiles()
        tiles.store(writer.takeChanges())
        return tiles
    }()

    @Test func `inclusion proofs from tiles are those of RFC 6962 and hold`() throws {
        var generator = SeededGenerator(seed: 8)
        let reader = TreeReader(Self.tiles)
        for size in Array(1...40) + sizes(&generator) {
            let root = Self.slow.root(0..<size)
            for leaf in size <= 40 ? Array(0..<size) : [0, size / 2, size - 1] {
                let proof = try reader.inclusionProof(leaf: UInt64(leaf), size: UInt64(size))
                let leafHash = Self.slow.leaves[leaf]
                #expect(proof.hashes == Self.slow.path(leaf, 0..<size), "\(leaf) in \(size)")
                #expect(proof.holds(leafHash: leafHash, root: root), "\(leaf) in \(size)")
                for forged in forgeries(of: proof, &generator) {
                    #expect(!forged.holds(leafHash: leafHash, root: root), "\(forged)")
                }
                #expect(!proof.holds(leafHash: leafHash.flipping(bit: 9), root: root))
                #expect(!proof.holds(leafHash: leafHash, root: root.flipping(bit: 200)))
            }
        }
    }

    @Test func `consistency proofs from tiles are those of RFC 6962 and hold`() throws {
        var generator = SeededGenerator(seed: 9)
        let reader = TreeReader(Self.tiles)
        for size in Array(1...40) + sizes(&generator) {
            let olds =
                size <= 40 ? Array(1...size) : [1, 2, 255, 256, 257, size / 2, size - 1, size]
            for old in olds where old <= size {
                let proof = try reader.consistencyProof(from: UInt64(old), to: UInt64(size))
                let (oldRoot, root) = (Self.slow.root(0..<old), Self.slow.root(0..<size))
                #expect(proof.hashes == Self.slow.subproof(old, 0..<size, true), "\(old), \(size)")
                #expect(proof.holds(oldRoot: oldRoot, newRoot: root), "\(old) in \(size)")
                for forged in forgeries(of: proof, &generator) {
                    #expect(!forged.holds(oldRoot: oldRoot, newRoot: root), "\(forged)")
                }
                #expect(!proof.holds(oldRoot: oldRoot.flipping(bit: 1), newRoot: root))
                #expect(!proof.holds(oldRoot: oldRoot, newRoot: root.flipping(bit: 255)))
            }
        }
    }

    @Test func `trees of one size are compared by their roots`() {
        let (one, other) = (Self.slow.leaves[0], Self.slow.leaves[1])
        let same = ConsistencyProof(from: 5, to: 5, hashes: [])
        #expect(same.holds(oldRoot: one, newRoot: one))
        #expect(!same.holds(oldRoot: one, newRoot: other))
        #expect(!ConsistencyProof(from: 5, to: 5, hashes: [one]).holds(oldRoot: one, newRoot: one))
        let empty = ConsistencyProof(from: 0, to: 0, hashes: [])
        #expect(empty.holds(oldRoot: TreeHash.emptyRoot, newRoot: TreeHash.emptyRoot))
        #expect(!empty.holds(oldRoot: one, newRoot: one))
    }

    @Test func `a proof of what is not there is a fault, not a trap`() {
        let reader = TreeReader(Self.tiles)
        #expect(throws: DecodingFault.self) { try reader.inclusionProof(leaf: 5, size: 5) }
        #expect(throws: DecodingFault.self) { try reader.inclusionProof(leaf: 0, size: 0) }
        #expect(throws: DecodingFault.self) { try reader.inclusionProof(leaf: 0, size: 601) }
        #expect(throws: DecodingFault.self) { try reader.inclusionProof(leaf: 9, size: .max) }
        #expect(throws: DecodingFault.self) { try reader.consistencyProof(from: 0, to: 5) }
        #expect(throws: DecodingFault.self) { try reader.consistencyProof(from: 6, to: 5) }
        #expect(throws: DecodingFault.self) { try reader.consistencyProof(from: 6, to: .max) }
        #expect(throws: DecodingFault.self) { try reader.root(size: .max) }
    }

    @Test func `no proof from outside can trap a verifier`() {
        let hash = Self.slow.leaves[0]
        let numbers: [UInt64] = [0, 1, 2, 3, 255, 256, 1 << 32, 1 << 63, .max - 1, .max]
        for (one, other) in numbers.flatMap({ one in numbers.map { (one, $0) } }) {
            for count in [0, 1, 2, 63, 64, 65, 200] {
                let hashes = Array(repeating: hash, count: count)
                let inclusion = InclusionProof(leaf: one, size: other, hashes: hashes)
                #expect(
                    !inclusion.holds(leafHash: hash, root: hash) || (one, other, count) == (0, 1, 0)
                )
                let consistency = ConsistencyProof(from: one, to: other, hashes: hashes)
                let isSame = one == other && one > 0 && count == 0
                #expect(consistency.holds(oldRoot: hash, newRoot: hash) == isSame)
            }
        }
    }

    private func sizes(_ generator: inout SeededGenerator) -> [Int] {
        [127, 128, 129, 255, 256, 257, 511, 512, 513, 600]
            + (0..<40).map { _ in Int.random(in: 41...600, using: &generator) }
    }

    private func forgeries(
        of proof: InclusionProof,
        _ generator: inout SeededGenerator
    ) -> [InclusionProof] {
        hashForgeries(proof.hashes, &generator).map {
            InclusionProof(leaf: proof.leaf, size: proof.size, hashes: $0)
        } + [InclusionProof(leaf: proof.size, size: proof.size, hashes: proof.hashes)]
    }

    private func forgeries(
        of proof: ConsistencyProof,
        _ generator: inout SeededGenerator
    ) -> [ConsistencyProof] {
        hashForgeries(proof.hashes, &generator).map {
            ConsistencyProof(from: proof.oldSize, to: proof.newSize, hashes: $0)
        } + [ConsistencyProof(from: proof.newSize + 1, to: proof.newSize, hashes: proof.hashes)]
    }

    /// A bit flipped in each hash, a hash left out, one too many, two swapped.
    private func hashForgeries(
        _ hashes: [Digest],
        _ generator: inout SeededGenerator
    ) -> [[Digest]] {
        var forged = hashes.indices.map { index in
            var changed = hashes
            changed[index] = hashes[index].flipping(bit: Int.random(in: 0..<256, using: &generator))
            return changed
        }
        if !hashes.isEmpty { forged.append(Array(hashes.dropLast())) }
        if hashes.count > 1 { forged.append(Array(hashes.reversed())) }
        return forged + [hashes + [TreeHash.emptyRoot]]
    }
}
