import EventLog
import PostingIndex

/// What the log holds beyond the tables' position, in memory: a reader never sees less than the
/// last acknowledged append.
///
/// It stands in parts: what has ended is never changed again but dropped, so that it may be moved into
/// the tables, or kept by whoever took a copy, while what comes in goes to another part.
struct Overlay {
    private var recent: Part
    /// Those before, ascending.
    private var ended: [Part] = []
    /// How many events it holds when moving them is tried again, after it failed.
    private var nextAttempt = 0

    /// Events that come before what failed is tried again.
    private static let attemptDistance = 10_000
    /// More parts than these would make each look into it longer.
    private static let endedLimit = 8

    init(from position: UInt64) { recent = Part(from: position) }

    /// Size of the log that tables and overlay cover together.
    var end: UInt64 { recent.end }

    /// Events that it holds.
    var count: Int { ended.reduce(recent.count) { $0 + $1.count } }

    /// Adds what follows; what is known already, because somebody caught up before, is passed over.
    mutating func add(_ entries: [IndexEntry]) { recent.add(entries) }

    /// Passes over gaps that a salvage left, up to a size.
    mutating func pass(to size: UInt64) { recent.pass(to: size) }

    /// A copy to keep: what comes in next copies nothing of what it shares with it.
    ///
    /// Where it has many parts already, what comes in next copies the newest.
    mutating func shared() -> Overlay {
        if ended.count < Self.endedLimit { endRecent() }
        return self
    }

    /// What is to be moved into the tables next, part by part, and where it ends; it stays until it is
    /// dropped.
    mutating func beginMoving() -> (postings: [Postings], end: UInt64) {
        endRecent()
        return (ended.map(\.postings), recent.start)
    }

    private mutating func endRecent() {
        guard recent.count > 0 else { return }
        ended.append(recent)
        recent = Part(from: recent.end)
    }

    /// Whether it holds so many that they are to be moved.
    func isDue(from limit: Int) -> Bool { count >= max(limit, nextAttempt) }

    /// Notes that they could not be moved, so that not each append tries it.
    mutating func noteFailure() {
        // Fits: a count of what is in memory.
        nextAttempt = count + Self.attemptDistance
    }

    /// Forgets what the tables hold by now.
    mutating func drop(below size: UInt64) {
        nextAttempt = 0
        ended.removeAll { $0.end <= size }
        for index in ended.indices { ended[index].drop(below: size) }
        recent.drop(below: size)
    }

    func sequence(of signal: SignalDigest) -> UInt64? {
        for part in ended {
            if let first = part.sequence(of: signal) { return first }
        }
        return recent.sequence(of: signal)
    }

    func lastSequence(of stream: UInt64) -> UInt64? {
        if let last = recent.lastSequence(of: stream) { return last }
        for part in ended.reversed() {
            if let last = part.lastSequence(of: stream) { return last }
        }
        return nil
    }

    /// The entries of a stream, ascending.
    func entries(of stream: UInt64) -> [StreamEntry] {
        ended.flatMap { $0.entries(of: stream) } + recent.entries(of: stream)
    }
}

extension Overlay {
    /// Events that follow one another: their postings in the order of the log, and where to find them.
    ///
    /// Between them may be gaps that a salvage left.
    private struct Part {
        private(set) var postings = Postings(reservingFor: 0)
        private(set) var start: UInt64
        private(set) var end: UInt64
        /// The first event of each signal.
        private var signals: [SignalDigest: UInt64] = [:]
        /// One more than the place of each stream's last posting.
        private var last: [UInt64: UInt32] = [:]
        /// For each posting of a stream one more than the place of the one before; 0: none.
        private var previous: [UInt32] = []

        init(from start: UInt64) { (self.start, end) = (start, start) }

        var count: Int { Int(end - start) }

        mutating func add(_ entries: [IndexEntry]) {
            for entry in entries where entry.sequence >= end {
                end = entry.sequence + 1
                // The first stays; nearly all are.
                if let first = signals.updateValue(entry.sequence, forKey: entry.signal) {
                    signals[entry.signal] = first
                }
                postings.append(entry)
                chain()
            }
        }

        /// Counts a part of the log as known that has no event any more.
        mutating func pass(to size: UInt64) { end = max(end, size) }

        /// Chains the streams' postings that are not yet.
        private mutating func chain() {
            while previous.count < postings.streams.count {
                let stream = postings.streams[previous.count].key
                previous.append(last.updateValue(UInt32(previous.count + 1), forKey: stream) ?? 0)
            }
        }

        /// Forgets what is below a size.
        mutating func drop(below size: UInt64) {
            guard size > start else { return }
            start = size
            end = max(end, size)
            postings.drop(below: size)
            signals = signals.filter { $0.value >= size }
            (last, previous) = ([:], [])
            chain()
        }

        func sequence(of signal: SignalDigest) -> UInt64? { signals[signal] }

        func lastSequence(of stream: UInt64) -> UInt64? {
            last[stream].map { postings.streams[Int($0) - 1].sequence }
        }

        func entries(of stream: UInt64) -> [StreamEntry] {
            var entries: [StreamEntry] = []
            var next = last[stream] ?? 0
            while next > 0 {
                let posting = postings.streams[Int(next) - 1]
                entries.append(StreamEntry(sequence: posting.sequence, kind: posting.tag))
                next = previous[Int(next) - 1]
            }
            entries.reverse()
            return entries
        }
    }
}
