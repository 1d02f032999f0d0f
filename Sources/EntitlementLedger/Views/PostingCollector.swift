import Entitlements
import EventLog

/// Reads the postings of a part of the log.
struct PostingCollector {
    private(set) var streams: [Posting] = []
    private(set) var signals: [Posting] = []

    /// Makes room for the events of a range.
    init(reservingFor count: Int) {
        // Few events name more streams than their subject's.
        streams.reserveCapacity(count + count / 8)
        signals.reserveCapacity(count)
    }

    /// What one table of a run gets.
    subscript(part: IndexRun.Part) -> [Posting] {
        switch part {
        case .streams: streams
        case .signals: signals
        }
    }

    /// Reads a range of the log, on all cores.
    static func collect(_ log: any LogReader, _ sequences: Range<UInt64>) throws -> Self {
        let bundles = (UInt64(sequences.count) + Bundle.recordCount - 1) / Bundle.recordCount
        let width = UInt64(Concurrently.width)
        let size = max(1, (bundles + width - 1) / width) * Bundle.recordCount
        let starts = stride(from: sequences.lowerBound, to: sequences.upperBound, by: Int(size))
        let parts = try Concurrently.map(starts.underestimatedCount) { [starts = Array(starts)] in
            let end = min(starts[$0] + size, sequences.upperBound)
            var part = PostingCollector(reservingFor: Int(end - starts[$0]))
            try log.scan(from: starts[$0], upTo: end) { header, record in
                try part.append(header, record)
                return true
            }
            return part
        }
        var all = PostingCollector(reservingFor: sequences.count)
        for part in parts {
            all.streams += part.streams
            all.signals += part.signals
        }
        return all
    }

    private mutating func append(_ header: RecordHeader, _ record: Span<UInt8>) throws {
        let sequence = header.sequence
        signals.append(Posting(signal: header.signal, sequence: sequence))
        guard Self.namesOthers[Int(header.kind)] else {
            let posting = Posting(stream: header.stream, sequence: sequence, kind: header.kind)
            return streams.append(posting)
        }
        appendStreams(try header.indexEntry(record))
    }

    /// Kinds whose facts name streams, and those that are unknown.
    private static let namesOthers = (0...UInt8.max).map { kind in
        EventKind(rawValue: kind)?.namesStreams ?? true
    }

    /// Adds an event that is behind those that were added before.
    mutating func append(_ entry: IndexEntry) {
        signals.append(Posting(signal: entry.signal, sequence: entry.sequence))
        appendStreams(entry)
    }

    /// Takes away the events below a sequence.
    mutating func drop(below sequence: UInt64) {
        streams.removeAll { $0.sequence < sequence }
        signals.removeAll { $0.sequence < sequence }
    }

    private mutating func appendStreams(_ entry: IndexEntry) {
        for (place, stream) in entry.streams.enumerated()
        where !entry.streams[..<place].contains(stream) {
            streams.append(
                Posting(stream: stream, sequence: entry.sequence, kind: entry.kind)
            )
        }
    }

    /// Puts both in the order of their tables, at once.
    mutating func sort() {
        let parts = IndexRun.Part.allCases
        let sorted = Concurrently.map(parts.count) { [self] number in
            var postings = self[parts[number]]
            postings.sortByKey()
            return postings
        }
        (streams, signals) = (sorted[0], sorted[1])
    }
}
