import EventLog

/// The signals of some streams that were met: as a last defence the fold skips an event whose
/// signal occurs earlier in its stream (E1).
struct SignalSet {
    private struct Entry {
        var stream: UInt64
        var signal: SignalDigest
    }

    /// Open addressing by the digest, which is uniform; a power of two of them.
    private var slots: [Entry?]
    private var count = 0

    /// Makes an empty set with room for some signals.
    init(expecting count: Int) {
        var size = 16
        while size < count * 2 { size *= 2 }
        slots = Array(repeating: nil, count: size)
    }

    /// Adds a signal; false if its stream had it before.
    mutating func insert(_ signal: SignalDigest, of stream: UInt64) -> Bool {
        if count * 2 >= slots.count { grow() }
        var slot = Int(truncatingIfNeeded: signal.low) & (slots.count - 1)
        while let entry = slots[slot] {
            if entry.signal == signal && entry.stream == stream { return false }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = Entry(stream: stream, signal: signal)
        count += 1
        return true
    }

    private mutating func grow() {
        let entries = slots.compactMap { $0 }
        self = SignalSet(expecting: slots.count)
        for entry in entries { _ = insert(entry.signal, of: entry.stream) }
    }
}
