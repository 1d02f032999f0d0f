import Synchronization

/// A log that goes on in memory from where another one ends: what is appended to it reaches no
/// disk, and the other is read only.
///
/// It shows what would come of something that is not to be done yet.
package final class DraftLog: LogStorage {
    private let base: any LogReader
    /// Where the base ended; what is appended there later is not seen.
    private let start: LogEnd
    private let tail: Mutex<Tail>

    private struct Tail {
        var end: LogEnd
        var records: [[UInt8]] = []
        var attached: [UInt64: [UInt8]] = [:]
        var sharedParts: [Digest: [UInt8]] = [:]
    }

    /// Begins at a log's end.
    ///
    /// - Throws: what the log's end throws.
    package init(on base: any LogReader) throws {
        self.base = base
        start = try base.end()
        tail = Mutex(Tail(end: start))
    }

    /// See `LogStorage`.
    package func end() -> LogEnd { tail.withLock(\.end) }

    /// See `LogStorage`; durable as long as the draft lives.
    package func append(_ batch: LogBatch) throws -> LogEnd {
        try tail.withLock { tail in
            guard tail.end.size == batch.first else {
                throw LogStorageFault(.damaged, "the batch does not begin at the log's end")
            }
            tail.records += batch.records
            for attached in batch.attached {
                tail.attached[attached.sequence] = attached.bytes
            }
            for part in batch.sharedParts where tail.sharedParts[part.digest] == nil {
                tail.sharedParts[part.digest] = part.bytes
            }
            var edge = tail.end.edge
            for leaf in batch.leaves { edge.append(leaf) }
            tail.end = LogEnd(
                edge: edge,
                lastRecordedAt: batch.lastRecordedAt,
                highestCounter: batch.highestCounter,
                lastOwnRecordedAt: batch.lastOwnRecordedAt
            )
            return tail.end
        }
    }

    /// Forgets nothing.
    package func reopen() {}

    /// Keeps none: a draft is never signed.
    package func keepCheckpoint(size: UInt64, note: String) throws {
        throw LogStorageFault(.unreadable, "a draft is not signed")
    }

    /// See `LogStorage`.
    package func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (_ first: UInt64, _ block: Span<UInt8>) throws -> Bool
    ) throws {
        var goesOn = true
        if first < start.size {
            try base.readBlocks(from: first, upTo: min(end, start.size)) { place, block in
                let count = UInt64(try Bundle.count(block))
                if place + count <= start.size {
                    goesOn = try body(place, block)
                } else {
                    // Others have appended since.
                    let own = try Self.first(Int(start.size - place), of: Int(count), in: block)
                    let kept = Bundle.pack(own)
                    goesOn = try body(place, kept.span)
                }
                return goesOn
            }
        }
        let records = tail.withLock(\.records)
        var place = max(first, start.size)
        while goesOn, place < end {
            guard place - start.size < UInt64(records.count) else {
                throw LogStorageFault(.damaged, "record \(place) is missing")
            }
            let block = Bundle.pack([records[Int(place - start.size)]])
            goesOn = try body(place, block.span)
            place += 1
        }
    }

    /// The first records of a block.
    private static func first(
        _ wanted: Int,
        of count: Int,
        in block: Span<UInt8>
    ) throws -> [[UInt8]] {
        var records: [[UInt8]] = []
        for index in 0..<wanted {
            let range = try Bundle.range(of: index, count: count, in: block)
            var record: [UInt8] = []
            for place in range { record.append(block[place]) }
            records.append(record)
        }
        return records
    }

    /// See `LogStorage`.
    package func readRecords(
        _ sequences: [UInt64],
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Void
    ) throws {
        let records = tail.withLock(\.records)
        for sequence in sequences {
            if sequence < start.size {
                try base.readRecords([sequence], body)
            } else if sequence - start.size < UInt64(records.count) {
                let record = records[Int(sequence - start.size)]
                try body(sequence, record.span)
            } else {
                throw LogStorageFault(.damaged, "record \(sequence) is missing")
            }
        }
    }

    /// See `LogStorage`.
    package func attached(at sequence: UInt64) throws -> [UInt8]? {
        if sequence < start.size { return try base.attached(at: sequence) }
        return tail.withLock { $0.attached[sequence] }
    }

    /// See `LogStorage`.
    package func sharedPart(_ digest: Digest) throws -> [UInt8]? {
        try base.sharedPart(digest) ?? tail.withLock { $0.sharedParts[digest] }
    }

    /// See `TileSource`: those of the base; what a draft appends is never proven.
    package func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try base.tile(level: level, index: index)
    }

    /// See `LogStorage`: those of the base.
    package func checkpoints() throws -> [(size: UInt64, note: String)] {
        try base.checkpoints().filter { $0.size <= start.size }
    }
}
