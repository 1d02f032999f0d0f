import Synchronization

/// A log that lives as long as the process: for simulations, and for a server that keeps nothing.
///
/// Holds what a log on disk holds, in the same form: bundles, tail values, tiles. Readers work on
/// a snapshot, so that a body may read again and an append never waits for it.
package final class MemoryLog: LogStorage {
    private let state = Mutex(State())

    /// Records as bundles and, behind the last full one, as tail values.
    fileprivate struct Records {
        var bundles: [[UInt8]] = []
        var tail: [Block] = []

        struct Block {
            var first: UInt64
            var count: Int
            var value: [UInt8]
        }

        /// The block that holds a record; nil if the log ends before it.
        func block(holding sequence: UInt64) -> Block? {
            let bundle = sequence / Bundle.recordCount
            if bundle < UInt64(bundles.count) {
                return Block(
                    first: bundle * Bundle.recordCount,
                    count: Int(Bundle.recordCount),
                    value: bundles[Int(bundle)]
                )
            }
            guard let last = tail.last(where: { $0.first <= sequence }),
                sequence - last.first < UInt64(last.count)
            else { return nil }
            return last
        }
    }

    fileprivate struct TilePlace: Hashable {
        var level: Int
        var index: UInt64
    }

    fileprivate struct State {
        var end = LogEnd.empty
        var records = Records()
        /// The records of the tail, until they fill a bundle.
        var unpacked = RecordList()
        var attached: [UInt64: [UInt8]] = [:]
        var sharedParts: [Digest: [UInt8]] = [:]
        var tree = TileWriter()
        var tiles: [TilePlace: [UInt8]] = [:]
        var notes: [UInt64: String] = [:]
        var newStreams: [UInt64: [UInt8]] = [:]
        /// Up to which the next batch removes them.
        var takenOver: UInt64 = 0
    }

    /// Makes an empty log.
    package init() {}

    /// See `LogStorage`.
    package func end() -> LogEnd { state.withLock { $0.end } }

    /// See `LogStorage`.
    package func append(_ batch: LogBatch) throws -> LogEnd {
        try state.withLock { state in
            guard state.end.size == batch.first else {
                throw LogStorageFault(.damaged, "the batch does not begin at the log's end")
            }
            state.place(batch.records)
            for attached in batch.attached {
                state.attached[attached.sequence] = attached.bytes
            }
            for part in batch.sharedParts where state.sharedParts[part.digest] == nil {
                state.sharedParts[part.digest] = part.bytes
            }
            state.removeTakenOver()
            for new in batch.newStreams { state.newStreams[new.stream] = new.bytes }
            for leaf in batch.leaves { state.tree.append(leaf) }
            for tile in state.tree.takeChanges() {
                let place = TilePlace(level: tile.coordinate.level, index: tile.coordinate.index)
                state.tiles[place] = tile.bytes
            }
            state.end = LogEnd(
                edge: state.tree.edge,
                lastRecordedAt: batch.lastRecordedAt,
                highestCounter: batch.highestCounter,
                lastOwnRecordedAt: batch.lastOwnRecordedAt
            )
            return state.end
        }
    }

    /// Forgets nothing: what was committed stands for as long as the log lives.
    package func reopen() {}

    /// See `LogStorage`.
    package func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (_ first: UInt64, _ block: Span<UInt8>) throws -> Bool
    ) throws {
        let records = state.withLock { $0.records }
        var next = first
        while next < end {
            let block = try Self.block(holding: next, of: records)
            guard try body(block.first, block.value.span) else { return }
            next = block.first + UInt64(block.count)
        }
    }

    /// See `LogStorage`.
    package func readRecords(
        _ sequences: [UInt64],
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Void
    ) throws {
        let records = state.withLock { $0.records }
        for sequence in sequences {
            let block = try Self.block(holding: sequence, of: records)
            let value = block.value.span
            let index = Int(sequence - block.first)
            let range = try Bundle.range(of: index, count: block.count, in: value)
            try body(sequence, value.extracting(range))
        }
    }

    private static func block(
        holding sequence: UInt64,
        of records: Records
    ) throws -> Records.Block {
        guard let block = records.block(holding: sequence) else {
            throw LogStorageFault(.damaged, "record \(sequence) is missing")
        }
        return block
    }

    /// See `LogStorage`.
    package func attached(at sequence: UInt64) -> [UInt8]? {
        state.withLock { $0.attached[sequence] }
    }

    /// See `LogStorage`.
    package func eraseEvidence(of sequences: [UInt64]) {
        state.withLock { state in
            for sequence in sequences {
                guard let attached = state.attached[sequence],
                    ErasedEvidence.digest(attached.span) == nil
                else { continue }
                state.attached[sequence] = ErasedEvidence.bytes(for: attached.span)
            }
        }
    }

    /// See `LogStorage`.
    package func sharedPart(_ digest: Digest) -> [UInt8]? {
        state.withLock { $0.sharedParts[digest] }
    }

    /// See `TileSource`.
    package func tile(level: Int, index: UInt64) -> [UInt8]? {
        state.withLock { $0.tiles[TilePlace(level: level, index: index)] }
    }

    /// See `LogStorage`.
    package func keepCheckpoint(size: UInt64, note: String) {
        state.withLock { $0.notes[size] = note }
    }

    /// See `LogStorage`.
    package func newStreams(from first: UInt64) -> [NewStream] {
        state.withLock { $0.newStreams }.filter { $0.key >= first }
            .sorted { $0.key < $1.key }.map { NewStream(stream: $0.key, bytes: $0.value) }
    }

    /// See `LogStorage`.
    package func tookOver(upTo stream: UInt64) {
        state.withLock { $0.takenOver = max($0.takenOver, stream) }
    }

    /// See `LogStorage`.
    package func removeTakenOver() { state.withLock { $0.removeTakenOver() } }

    /// See `LogStorage`.
    package func checkpoints() -> [(size: UInt64, note: String)] {
        state.withLock { $0.notes }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension MemoryLog.State {
    fileprivate mutating func removeTakenOver() {
        guard takenOver > 0 else { return }
        newStreams = newStreams.filter { $0.key > takenOver }
        takenOver = 0
    }

    /// Fills bundles; the one that fills takes in the tail values before it.
    fileprivate mutating func place(_ new: RecordList) {
        var index = 0
        while index < new.count {
            let room = Int(Bundle.recordCount) - unpacked.count
            let part = index..<min(new.count, index + room)
            let first = UInt64(records.bundles.count) * Bundle.recordCount + UInt64(unpacked.count)
            index = part.upperBound
            unpacked.append(new, part)
            if unpacked.count == Int(Bundle.recordCount) {
                records.bundles.append(unpacked.packed(0..<unpacked.count))
                records.tail = []
                unpacked = RecordList()
            } else {
                let value = new.packed(part)
                records.tail.append(.init(first: first, count: part.count, value: value))
            }
        }
    }
}
