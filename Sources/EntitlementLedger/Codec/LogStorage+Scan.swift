import Entitlements
import EventLog

extension LogStorage {
    /// Lends each record of a range with its header, ascending, until the body returns false.
    ///
    /// - Throws: `LogStorageFault.damaged` where a record is not what it should be.
    func scan(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (RecordHeader, Span<UInt8>) throws -> Bool
    ) throws {
        try readBlocks(from: first, upTo: end) { start, block in
            let count = try Bundle.count(block)
            for index in 0..<count {
                let sequence = start + UInt64(index)
                if sequence < first { continue }
                if sequence >= end { return false }
                let record = block.extracting(
                    try Bundle.range(of: index, count: count, in: block)
                )
                let header = try RecordHeader(reading: record)
                guard header.sequence == sequence else {
                    throw LogStorageFault(.damaged, "record \(sequence) is another")
                }
                if try !body(header, record) { return false }
            }
            return true
        }
    }
}

extension RecordHeader {
    /// What views keep of the record: the streams that it names are read from its facts.
    func indexEntry(_ record: Span<UInt8>) throws -> IndexEntry {
        IndexEntry(
            sequence: sequence,
            signal: signal,
            kind: kind,
            streams: try [stream] + otherStreams(record)
        )
    }
}

extension EventShape {
    /// Whether an event of this shape names other streams than its subject's.
    var namesStreams: Bool { required.contains { $0.placement == .stream } }
}
