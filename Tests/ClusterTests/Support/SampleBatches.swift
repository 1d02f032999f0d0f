import EventLog

/// Commits that follow one another, of records that nobody reads.
struct SampleBatches {
    private(set) var batches: [LogBatch] = []
    private(set) var end = LogEnd.empty

    /// Makes them.
    ///
    /// `sizes`: records of each. `mark`: makes them others than those of another mark.
    init(_ sizes: [Int], after end: LogEnd = .empty, mark: UInt8 = 0) {
        self.end = end
        for size in sizes { add(size, mark) }
    }

    private mutating func add(_ size: Int, _ mark: UInt8) {
        var batch = LogBatch(after: end)
        for place in 0..<size {
            let sequence = Int(end.size) + place
            let bytes =
                [mark] + Array("record \(sequence)".utf8)
                + [UInt8](repeating: UInt8(truncatingIfNeeded: sequence), count: sequence % 90)
            batch.records.append(bytes)
            batch.leaves.append(TreeHash.leaf(bytes.span))
            guard sequence.isMultiple(of: 5) else { continue }
            batch.attached.append((UInt64(sequence), Array("attached to \(sequence)".utf8)))
            let part = Array("part \(sequence)".utf8)
            batch.sharedParts.append((TreeHash.attached(part.span), part))
        }
        batch.lastRecordedAt = max(0, end.lastRecordedAt) + 7
        batch.highestCounter = end.highestCounter + 1
        batch.lastOwnRecordedAt = size.isMultiple(of: 2) ? nil : batch.lastRecordedAt
        let stream = StreamNumber.number(counter: batch.highestCounter, shard: 9)
        batch.newStreams = [NewStream(stream: stream, bytes: [mark, 1, 2, 3])]
        end = batch.end(after: end)
        batches.append(batch)
    }
}
