import Entitlements
import EventLog

/// A log as it was when it had so many records: nothing that came later can be seen through it.
struct PrefixLog: LogReader {
    private let log: any LogReader
    private let prefixEnd: LogEnd

    /// - Throws: `LogStorageFault`, `DecodingFault` where the log is shorter or damaged.
    init(_ log: any LogReader, size: UInt64) throws {
        self.log = log
        prefixEnd = LogEnd(
            edge: try TreeReader(LogTiles(log)).edge(size: size),
            lastRecordedAt: size == 0 ? .min : try log.recordedAt(size - 1).milliseconds,
            highestCounter: try log.end().highestCounter
        )
    }

    func end() throws -> LogEnd { prefixEnd }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (_ first: UInt64, _ block: Span<UInt8>) throws -> Bool
    ) throws {
        try log.readBlocks(from: first, upTo: min(end, prefixEnd.size), body)
    }

    func readRecords(
        _ sequences: [UInt64],
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Void
    ) throws {
        guard sequences.allSatisfy({ $0 < prefixEnd.size }) else {
            throw LogStorageFault(.unreadable, "a record lies beyond the prefix")
        }
        try log.readRecords(sequences, body)
    }

    func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try log.tile(level: level, index: index)
    }

    func attached(at sequence: UInt64) throws -> [UInt8]? { try log.attached(at: sequence) }

    func sharedPart(_ digest: Digest) throws -> [UInt8]? { try log.sharedPart(digest) }

    func checkpoints() throws -> [(size: UInt64, note: String)] {
        try log.checkpoints().filter { $0.size <= prefixEnd.size }
    }
}
