import Entitlements
import EventLog
import PostingIndex

/// Postings of the log's events.
extension Postings {
    /// Reads a range of the log, on all cores.
    static func collect(_ log: any LogReader, _ sequences: Range<UInt64>) throws -> Self {
        let bundles = (UInt64(sequences.count) + Bundle.recordCount - 1) / Bundle.recordCount
        let width = UInt64(Concurrently.width)
        let size = max(1, (bundles + width - 1) / width) * Bundle.recordCount
        let starts = stride(from: sequences.lowerBound, to: sequences.upperBound, by: Int(size))
        let parts = try Concurrently.map(starts.underestimatedCount) { [starts = Array(starts)] in
            let end = min(starts[$0] + size, sequences.upperBound)
            var part = Postings(reservingFor: Int(end - starts[$0]))
            try log.scan(from: starts[$0], upTo: end) { header, record in
                try part.append(header, record)
                return true
            }
            return part
        }
        var all = Postings(reservingFor: sequences.count)
        for part in parts { all.append(part) }
        return all
    }

    private mutating func append(_ header: RecordHeader, _ record: Span<UInt8>) throws {
        let sequence = header.sequence
        append(signal: Posting(signal: header.signal, sequence: sequence))
        guard Self.namesOthers[Int(header.kind)] else {
            let posting = Posting(stream: header.stream, sequence: sequence, kind: header.kind)
            return append(stream: posting)
        }
        append(
            streams: header.stream,
            try header.otherStreams(record)[...],
            sequence: sequence,
            kind: header.kind
        )
    }

    /// Kinds whose facts name streams, and those that are unknown.
    private static let namesOthers = (0...UInt8.max).map { kind in
        EventKind(rawValue: kind)?.namesStreams ?? true
    }

    /// Adds an event that is behind those that were added before.
    mutating func append(_ entry: IndexEntry) {
        append(signal: Posting(signal: entry.signal, sequence: entry.sequence))
        append(
            streams: entry.stream,
            entry.others[...],
            sequence: entry.sequence,
            kind: entry.kind
        )
    }

    /// The event once for each stream that it names.
    private mutating func append(
        streams subject: UInt64,
        _ others: ArraySlice<UInt64>,
        sequence: UInt64,
        kind: UInt8
    ) {
        append(stream: Posting(stream: subject, sequence: sequence, kind: kind))
        for (place, stream) in zip(others.indices, others)
        where stream != subject && !others[..<place].contains(stream) {
            append(stream: Posting(stream: stream, sequence: sequence, kind: kind))
        }
    }
}
