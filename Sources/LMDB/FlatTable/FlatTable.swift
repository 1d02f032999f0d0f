// The fastest index: a hash table in memory, for answers on the caller's thread.
//
// A slot: sequence, key (2 words), payload (13 words). Sequence 0: free, a search ends here. Odd:
// being written. Even: whole. A key never moves and is never removed, so a search by linear probing
// needs no lock.
//
// Writer: sequence := odd; release fence; key, payload; sequence := even (release).
// Reader: load sequence (acquire); copy; acquire fence; load sequence again. If both are the same
// even number, no store of a writer fell between: a reader that saw one of the writer's later
// stores would, by the two fences, also see the odd number. All words are relaxed atomics, which
// cost what plain loads and stores cost and make the race defined.

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A flat open-addressing hash table in memory, whose slots are two cache lines each.
///
/// One thread writes at a time; any number of them read without a lock while it does. Keys are 16
/// bytes of a digest. Nothing is ever removed.
public final class FlatTable: Sendable {
    /// What is kept of a key: 104 bytes.
    public typealias Payload = InlineArray<13, UInt64>

    /// The number of slots, a power of two; 128 bytes each.
    public let capacity: Int

    private let words: AtomicWords
    /// The number of keys; held by the one thread that writes.
    private let taken = Mutex(0)

    private static let slotWords = 16
    private static let payloadWord = 3
    /// After this many busy looks a reader lets other threads run.
    private static let spinLimit = 64
    /// After this many, a few milliseconds, a reader gives up: the writer sleeps inside the slot,
    /// and asking the source is faster than waiting.
    private static let attemptLimit = 4096

    /// Makes an empty table.
    ///
    /// - Parameter slots: The number of slots, rounded up to a power of two; plan for 4/3 of the
    ///   keys.
    /// - Precondition: `slots` is in `1...2^40`, and the system has memory for them.
    public init(slots: Int) {
        precondition(slots > 0 && slots <= 1 << 40, "a possible number of slots")
        var capacity = 8
        while capacity < slots { capacity *= 2 }
        self.capacity = capacity
        words = AtomicWords(count: capacity * Self.slotWords)
    }

    /// The number of keys.
    public var count: Int { taken.withLock { $0 } }

    /// Looks up a 16-byte key.
    ///
    /// Allocates nothing, takes no lock, O(1).
    ///
    /// - Parameters:
    ///   - high: The first 8 bytes of the key, evenly distributed: their high bits are the hash.
    ///   - low: The other 8 bytes.
    /// - Returns: Its payload; nil if the table has no such key, or its slot is being written by a
    ///   thread that waits for a processor: nothing is known here, so ask the source.
    public func payload(_ high: UInt64, _ low: UInt64) -> Payload? {
        var slot = home(high)
        for _ in 0..<capacity {
            switch look(slot * Self.slotWords, high, low) {
            case .otherKey: slot = (slot + 1) & (capacity - 1)
            case .found(let payload): return payload
            case .free, .busy: return nil
            }
        }
        return nil
    }

    private enum Look {
        case found(Payload)
        case free
        case otherKey
        case busy
    }

    @inline(__always)
    private func look(_ base: Int, _ high: UInt64, _ low: UInt64) -> Look {
        for attempt in 0..<Self.attemptLimit {
            if attempt > Self.spinLimit { _ = sched_yield() }
            let before = words[base]
            if before == 0 { return .free }
            guard before & 1 == 0 else { continue }
            // A whole slot's key never changes, so it needs no second look.
            guard words.loadRelaxed(base + 1) == high, words.loadRelaxed(base + 2) == low
            else { return .otherKey }
            let payload = copy(base)
            atomicMemoryFence(ordering: .acquiring)
            guard before == words.loadRelaxed(base) else { continue }
            return .found(payload)
        }
        return .busy
    }

    /// Sets the payload of a key; readers see the old or the new one, never a mixture.
    ///
    /// - Returns: False, and nothing is changed, if a new key would take more than three quarters
    ///   of the slots.
    public func write(_ high: UInt64, _ low: UInt64, _ payload: Payload) -> Bool {
        taken.withLock { count in
            var slot = home(high)
            while words.loadRelaxed(slot * Self.slotWords) != 0 {
                let base = slot * Self.slotWords
                if words.loadRelaxed(base + 1) == high, words.loadRelaxed(base + 2) == low {
                    write(high, low, payload, at: base)
                    return true
                }
                slot = (slot + 1) & (capacity - 1)
            }
            guard (count + 1) * 4 <= capacity * 3 else { return false }
            count += 1
            write(high, low, payload, at: slot * Self.slotWords)
            return true
        }
    }

    /// A table of twice the slots with the same keys and payloads.
    ///
    /// O(n); nobody may write meanwhile.
    public func doubled() -> FlatTable {
        let larger = FlatTable(slots: capacity * 2)
        for slot in 0..<capacity where words.loadRelaxed(slot * Self.slotWords) != 0 {
            let base = slot * Self.slotWords
            let (high, low) = (words.loadRelaxed(base + 1), words.loadRelaxed(base + 2))
            let isWritten = larger.write(high, low, copy(base))
            assert(isWritten, "twice the slots have room")
        }
        return larger
    }

    @inline(__always)
    private func copy(_ base: Int) -> Payload {
        var payload = Payload(repeating: 0)
        for word in payload.indices {
            payload[word] = words.loadRelaxed(base + Self.payloadWord + word)
        }
        return payload
    }

    /// Keys are digests, so their high bits are a hash already.
    @inline(__always)
    private func home(_ high: UInt64) -> Int {
        Int(truncatingIfNeeded: high >> (64 - UInt64(capacity.trailingZeroBitCount)))
    }

    private func write(_ high: UInt64, _ low: UInt64, _ payload: Payload, at base: Int) {
        let sequence = words.loadRelaxed(base)
        words.storeRelaxed(sequence | 1, base)
        atomicMemoryFence(ordering: .releasing)
        words.storeRelaxed(high, base + 1)
        words.storeRelaxed(low, base + 2)
        for word in payload.indices {
            words.storeRelaxed(payload[word], base + Self.payloadWord + word)
        }
        words.storeReleasing(sequence &+ 2, base)
    }
}
