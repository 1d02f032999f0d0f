import EventLog

/// Loads the tables of a new generation from the log: in passes, each of which sorts a part that
/// fits in memory and appends it in the order of the keys.
struct BulkLoad {
    let log: any LogStorage
    let tables: IndexTables
    let size: UInt64

    /// Entries of one pass; some 64 MiB.
    private static let entriesPerPass: UInt64 = 2_000_000

    func run(progress: (_ done: UInt64, _ of: UInt64) throws -> Void) throws {
        guard size > 0 else { return }
        let passes = (size + Self.entriesPerPass - 1) / Self.entriesPerPass
        let counters = try log.end().highestCounter + 1
        for pass in 0..<passes {
            // Stream numbers ascend with their counter, digests are uniform.
            try loadStreams(
                counters: counters * pass / passes..<counters * (pass + 1) / passes
            )
            let first = pass == 0 ? 0 : UInt64.max / passes * pass
            let last = pass + 1 == passes ? UInt64.max : UInt64.max / passes * (pass + 1) - 1
            try loadSignals(high: first...last)
            try progress(size * (pass + 1) / passes, size)
        }
    }

    private func loadStreams(counters: Range<UInt64>) throws {
        var entries: [(stream: UInt64, sequence: UInt64, kind: UInt8)] = []
        try log.scan(from: 0, upTo: size) { header, record in
            for stream in Set(try header.indexEntry(record).streams)
            where counters.contains(StreamNumber.counter(of: stream)) {
                entries.append((stream, header.sequence, header.kind))
            }
            return true
        }
        entries.sort { ($0.stream, $0.sequence) < ($1.stream, $1.sequence) }
        try tables.load(streams: entries)
    }

    private func loadSignals(high: ClosedRange<UInt64>) throws {
        var entries: [(signal: SignalDigest, sequence: UInt64)] = []
        try log.scan(from: 0, upTo: size) { header, _ in
            if high.contains(header.signal.high) {
                entries.append((header.signal, header.sequence))
            }
            return true
        }
        entries.sort { ($0.signal, $0.sequence) < ($1.signal, $1.sequence) }
        // A signal keeps its first sequence (E1).
        var unique: [(signal: SignalDigest, sequence: UInt64)] = []
        for entry in entries where unique.last?.signal != entry.signal { unique.append(entry) }
        try tables.load(signals: unique)
    }
}
