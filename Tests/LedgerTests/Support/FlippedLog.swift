import EventLog
import Synchronization

/// A log in memory one bit of which is another on the way out.
final class FlippedLog: LogStorage {
    /// Where the bit is.
    struct Place: Sendable {
        var sequence: UInt64
        var byte: Int
    }

    private let log = MemoryLog()
    private let flipped = Mutex<Place?>(nil)

    /// The bit that is another; nil: none.
    var place: Place? {
        get { flipped.withLock { $0 } }
        set { flipped.withLock { $0 = newValue } }
    }

    private func altered(_ sequence: UInt64, _ record: Span<UInt8>) -> [UInt8] {
        var bytes = record.copy()
        if let place, place.sequence == sequence { bytes[place.byte] ^= 1 }
        return bytes
    }

    func readRecords(
        _ sequences: [UInt64],
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        try log.readRecords(sequences) { sequence, record in
            let bytes = altered(sequence, record)
            try body(sequence, bytes.span)
        }
    }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        try log.readBlocks(from: first, upTo: end) { start, block in
            let count = try Bundle.count(block)
            var records: [[UInt8]] = []
            for index in 0..<count {
                let range = try Bundle.range(of: index, count: count, in: block)
                records.append(altered(start + UInt64(index), block.extracting(range)))
            }
            let bytes = Bundle.pack(records)
            return try body(start, bytes.span)
        }
    }

    func end() -> LogEnd { log.end() }
    func tile(level: Int, index: UInt64) -> [UInt8]? { log.tile(level: level, index: index) }
    func append(_ batch: LogBatch) throws -> LogEnd { try log.append(batch) }
    func reopen() {}
    func attached(at sequence: UInt64) -> [UInt8]? { log.attached(at: sequence) }
    func sharedPart(_ digest: Digest) -> [UInt8]? { log.sharedPart(digest) }
    func keepCheckpoint(size: UInt64, note: String) { log.keepCheckpoint(size: size, note: note) }
    func checkpoints() -> [(size: UInt64, note: String)] { log.checkpoints() }
}
