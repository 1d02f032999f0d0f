import EventLog

/// What the log holds beyond the tables' position, in memory: a reader never sees less than the
/// last acknowledged append.
struct Overlay {
    /// Entries in the order of their sequence.
    private(set) var entries: [IndexEntry] = []
    /// Size of the log that tables and overlay cover together.
    private(set) var end: UInt64
    private var signals: [SignalDigest: UInt64] = [:]
    private var streams: [UInt64: [StreamEntry]] = [:]

    init(from position: UInt64) { end = position }

    mutating func add(_ added: [IndexEntry]) {
        for entry in added {
            precondition(entry.sequence == end, "the overlay follows the log without a gap")
            end += 1
            if signals[entry.signal] == nil { signals[entry.signal] = entry.sequence }
            for stream in Set(entry.streams) {
                streams[stream, default: []].append(
                    StreamEntry(sequence: entry.sequence, kind: entry.kind)
                )
            }
        }
        entries += added
    }

    /// Forgets what the tables hold by now.
    mutating func drop(below size: UInt64) {
        let kept = entries.filter { $0.sequence >= size }
        var overlay = Overlay(from: end - UInt64(kept.count))
        overlay.add(kept)
        self = overlay
    }

    func sequence(of signal: SignalDigest) -> UInt64? { signals[signal] }

    func entries(of stream: UInt64) -> [StreamEntry] { streams[stream] ?? [] }
}
