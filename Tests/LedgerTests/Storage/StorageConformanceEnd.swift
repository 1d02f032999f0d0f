import Encodings
import EventLog
import Foundation
import Testing

/// The log's end, its tree, and what stands beside the records.
struct `Conformance of a log's end and tree` {
    /// RFC 6962 section 2.1 as it is written, remembering what it computed.
    private struct NaiveTree {
        let leaves: [Digest]
        private var known: [Range<Int>: Digest] = [:]

        init(_ leaves: [Digest]) { self.leaves = leaves }

        mutating func root(_ range: Range<Int>) -> Digest {
            if let root = known[range] { return root }
            guard range.count > 1 else {
                return range.first.map { leaves[$0] } ?? TreeHash.emptyRoot
            }
            var split = 1
            while split * 2 < range.count { split *= 2 }
            let middle = range.lowerBound + split
            let left = root(range.lowerBound..<middle)
            let root = TreeHash.node(left, root(middle..<range.upperBound))
            known[range] = root
            return root
        }
    }

    // law 1
    @Test(arguments: StorageBackend.allCases, SampleLog.layouts)
    func `the edge is a naive tree's`(backend: StorageBackend, sizes: [Int]) async throws {
        let sample = try SampleLog(sizes)
        var tree = NaiveTree(sample.leaves)
        try await ScratchStorage.with(backend) { storage in
            for batch in sample.batches {
                let end = try storage.log.append(batch)
                #expect(end.edge.root == tree.root(0..<Int(end.size)))
                #expect(try storage.log.end() == end)
            }
        }
    }

    // row Z4
    @Test(arguments: StorageBackend.ofLedgers)
    func `tiles give the root of each size, and proofs that hold`(
        backend: StorageBackend
    ) async throws {
        let sample = try SampleLog([1, 254, 2, 100, 155, 88])
        let leaves = sample.leaves
        var tree = NaiveTree(leaves)
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            try storage.reopen()
            let reader = TreeReader(BoxedTiles(log: storage.log))
            let root = tree.root(0..<600)
            for size in 0...600 {
                let old = tree.root(0..<size)
                #expect(try reader.root(size: UInt64(size)) == old, "at size \(size)")
                guard size > 0 else { continue }
                let proof = try reader.consistencyProof(from: UInt64(size), to: 600)
                #expect(proof.holds(oldRoot: old, newRoot: root), "from size \(size)")
            }
            for leaf in 0..<600 {
                let proof = try reader.inclusionProof(leaf: UInt64(leaf), size: 600)
                #expect(proof.holds(leafHash: leaves[leaf], root: root), "leaf \(leaf)")
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `evidence is found by its record alone`(backend: StorageBackend) async throws {
        let sample = try SampleLog([5, 250, 2, 43])
        #expect(sample.attached.count == 43)
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            for _ in 0..<2 {
                for sequence in 0..<UInt64(301) {
                    #expect(
                        try storage.log.attached(at: sequence) == sample.attached[sequence],
                        "record \(sequence)"
                    )
                }
                try storage.reopen()
            }
        }
    }

    // E4
    @Test(arguments: StorageBackend.allCases, [[], [1], [255], [256], [300]])
    func `a batch that does not begin at the end changes nothing`(
        backend: StorageBackend,
        sizes: [Int]
    ) async throws {
        let sample = try SampleLog(sizes)
        let size = sample.end.size
        let good = try #require(try SampleLog(sizes + [5]).batches.last)
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            let tile = try storage.log.tile(level: 0, index: size / 256)
            for first in [0, size - min(size, 1), size + 1, size + 256] where first != size {
                var batch = good
                batch.first = first
                batch.attached = [(sequence: 9000, bytes: [1])]
                #expect(throws: LogStorageFault.self) { try storage.log.append(batch) }
                #expect(try storage.log.end() == sample.end)
                #expect(try storage.log.attached(at: 9000) == nil)
                #expect(try storage.log.tile(level: 0, index: size / 256) == tile)
                #expect(throws: LogStorageFault.self) { try storage.log.records([size]) }
            }
            // The refusals left nothing behind that the next batch would stumble over.
            #expect(try storage.log.append(good).size == size + 5)
            let read = try storage.log.recordsByBlock(from: 0, upTo: size + 5)
            #expect((0..<5).allSatisfy { read[size + UInt64($0)] == good.records[$0] })
            #expect(read.count == Int(size) + 5)
        }
    }

    // T3
    @Test(arguments: StorageBackend.allCases)
    func `recorded time and highest counter are kept`(backend: StorageBackend) async throws {
        let sample = try SampleLog([3, 4, 260])
        try await ScratchStorage.with(backend) { storage in
            for (batch, end) in zip(sample.batches, sample.ends) {
                let appended = try storage.log.append(batch)
                #expect(appended.lastRecordedAt == end.lastRecordedAt)
                #expect(appended.highestCounter == end.highestCounter)
                try storage.reopen()
                #expect(try storage.log.end().lastRecordedAt == end.lastRecordedAt)
                #expect(try storage.log.end().highestCounter == end.highestCounter)
            }
            #expect(sample.ends.map(\.highestCounter) == [8, 8, 272].map(UInt64.init))
        }
    }

    @Test(arguments: StorageBackend.ofLedgers)
    func `checkpoints come ascending, the last note of a size wins`(
        backend: StorageBackend
    ) async throws {
        try await ScratchStorage.with(backend) { storage in
            let sizes: [UInt64] = [300, 2, 256, 1 << 40, 0, 255, 70_000]
            for size in sizes {
                try storage.log.keepCheckpoint(size: size, note: "old \(size)")
                try storage.log.keepCheckpoint(size: size, note: "nöte \(size)\n")
            }
            for _ in 0..<2 {
                let kept = try storage.log.checkpoints()
                #expect(kept.map(\.size) == sizes.sorted())
                #expect(kept.map(\.note) == sizes.sorted().map { "nöte \($0)\n" })
                try storage.reopen()
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `a log opened again goes on where it stood`(backend: StorageBackend) async throws {
        let sample = try SampleLog([1, 255, 3, 253, 1, 87])
        try await ScratchStorage.with(backend) { storage in
            for (index, batch) in sample.batches.enumerated() {
                // Both ways: the storage's own, and as after a new start.
                if index.isMultiple(of: 2) {
                    try storage.log.reopen()
                } else {
                    try storage.reopen()
                }
                #expect(try storage.log.append(batch) == sample.ends[index])
            }
            try storage.log.reopen()
            #expect(try storage.log.end() == sample.end)
            let read = try storage.log.records(Array(0..<600))
            #expect(read.map(\.1) == sample.records)
        }
    }
}

/// `TreeReader` asks for one type of source.
private struct BoxedTiles: TileSource {
    let log: any LogStorage

    func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try log.tile(level: level, index: index)
    }
}
