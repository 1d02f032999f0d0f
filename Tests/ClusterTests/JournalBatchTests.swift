import EventLog
import Testing

/// What a cluster's journal keeps of a commit.
struct `A batch of a cluster's journal` {
    private static func batches() -> [LogBatch] { SampleBatches([1, 3, 300]).batches }

    @Test func `is unpacked as it was packed`() throws {
        var end = LogEnd.empty
        for batch in Self.batches() {
            let packed = JournalBatch(batch, after: end.edge)
            let again = try packed.unpacked(after: end)
            #expect(again.first == batch.first && again.leaves == batch.leaves)
            #expect(Array(again.records) == Array(batch.records))
            #expect(again.attached.map(\.bytes) == batch.attached.map(\.bytes))
            #expect(again.attached.map(\.sequence) == batch.attached.map(\.sequence))
            #expect(again.sharedParts.map(\.bytes) == batch.sharedParts.map(\.bytes))
            #expect(again.newStreams == batch.newStreams)
            #expect(again.lastRecordedAt == batch.lastRecordedAt)
            #expect(again.highestCounter == batch.highestCounter)
            #expect(again.lastOwnRecordedAt == batch.lastOwnRecordedAt)
            #expect(JournalBatch(again, after: end.edge) == packed)
            end = batch.end(after: end)
        }
    }

    @Test func `is refused with any byte changed or cut`() throws {
        let batch = try #require(Self.batches().first)
        let packed = JournalBatch(batch, after: TreeEdge())
        for place in packed.bytes.indices {
            var other = packed
            other.bytes[place] ^= 0x10
            #expect(throws: JournalFault.self) { try other.unpacked(after: .empty) }
            other.bytes = Array(packed.bytes[..<place])
            #expect(throws: JournalFault.self) { try other.unpacked(after: .empty) }
        }
        // Control.
        #expect(try packed.unpacked(after: .empty).records.count == 1)
    }

    @Test func `is refused under another root, count or place`() throws {
        let batch = try #require(Self.batches().first)
        let packed = JournalBatch(batch, after: TreeEdge())
        var other = packed
        other.root = TreeHash.emptyRoot
        #expect(throws: JournalFault.self) { try other.unpacked(after: .empty) }
        other = packed
        other.count += 1
        #expect(throws: JournalFault.self) { try other.unpacked(after: .empty) }
        other = packed
        other.first += 1
        #expect(throws: JournalFault.self) { try other.unpacked(after: .empty) }
    }
}
