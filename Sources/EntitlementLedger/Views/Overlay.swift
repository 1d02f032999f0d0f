import EventLog

/// What the log holds beyond the tables' position, in memory: a reader never sees less than the
/// last acknowledged append.
///
/// While a part of it is moved into the tables, what comes in goes to another part.
struct Overlay {
    private var recent: Part
    private var moving: Part?

    init(from position: UInt64) { recent = Part(from: position) }

    /// Size of the log that tables and overlay cover together.
    var end: UInt64 { recent.end }

    /// Events that it holds.
    var count: Int { recent.entries.count + (moving?.entries.count ?? 0) }

    /// Adds what follows; what is known already, because somebody caught up before, is passed over.
    mutating func add(_ entries: [IndexEntry]) { recent.add(entries) }

    /// The events to be moved into the tables next; they stay until they are dropped.
    mutating func beginMoving() -> [IndexEntry] {
        if moving == nil, !recent.entries.isEmpty {
            moving = recent
            recent = Part(from: recent.end)
        }
        return moving?.entries ?? []
    }

    /// Forgets what the tables hold by now.
    mutating func drop(below size: UInt64) {
        if let moving, moving.end == size {
            self.moving = nil
            return
        }
        let entries = (moving?.entries ?? []) + recent.entries
        moving = nil
        recent = Part(from: size)
        recent.add(entries)
    }

    func sequence(of signal: SignalDigest) -> UInt64? {
        moving?.signals[signal] ?? recent.signals[signal]
    }

    func lastSequence(of stream: UInt64) -> UInt64? {
        (recent.streams[stream] ?? moving?.streams[stream])?.last?.sequence
    }

    /// The entries of a stream, ascending.
    func entries(of stream: UInt64) -> [StreamEntry] {
        (moving?.streams[stream] ?? []) + (recent.streams[stream] ?? [])
    }
}

extension Overlay {
    /// Events without a gap.
    private struct Part {
        private(set) var entries: [IndexEntry] = []
        private(set) var end: UInt64
        private(set) var signals: [SignalDigest: UInt64] = [:]
        private(set) var streams: [UInt64: [StreamEntry]] = [:]

        init(from start: UInt64) { end = start }

        mutating func add(_ more: [IndexEntry]) {
            let added = more.drop { $0.sequence < end }
            for entry in added {
                precondition(entry.sequence == end, "the overlay follows the log without a gap")
                end += 1
                if signals[entry.signal] == nil { signals[entry.signal] = entry.sequence }
                for (place, stream) in entry.streams.enumerated()
                where !entry.streams[..<place].contains(stream) {
                    streams[stream, default: []].append(
                        StreamEntry(sequence: entry.sequence, kind: entry.kind)
                    )
                }
            }
            entries += added
        }
    }
}
