import Entitlements
import EventLog
import LMDB
import Synchronization

/// Which streams may have moved since a size of the log, for questions that cannot wait for a lock.
///
/// Streams share words: "unmoved" is certain, "moved" is for the tables and the overlay to tell.
final class AccessMoves: Sendable {
    /// Half a megabyte of words: they stay in a core's cache beside the slots that are looked up.
    private static let wordBits: UInt64 = 16
    /// One past the last event of any stream that has this word.
    private let words = AtomicWords(count: 1 << Int(wordBits))
    /// The size of the log from which on every event is noted.
    private let start = Atomic<UInt64>(.max)
    private let erased = Mutex<(@Sendable ([UInt64]) -> Void)?>(nil)

    /// From here on every event is noted.
    func begin(at size: UInt64) { start.store(size, ordering: .releasing) }

    /// Whom to tell of the streams that an erasure takes, before any question meets its event.
    func whenErased(_ body: @escaping @Sendable ([UInt64]) -> Void) {
        erased.withLock { $0 = body }
    }

    /// Notes events, before anyone is told of them.
    func note(_ entries: [IndexEntry]) {
        let gone = entries.lazy.filter { $0.kind == EventKind.customerErased.rawValue }
            .flatMap(\.streams)
        if !gone.isEmpty { erased.withLock { $0 }?(Array(gone)) }
        for entry in entries {
            for stream in entry.streams {
                words.raise(Self.word(of: stream), to: entry.sequence + 1)
            }
        }
    }

    /// True if no event of a stream was recorded at or after a size of the log.
    func isCertainlyUnmoved(_ stream: UInt64, since size: UInt64) -> Bool {
        size >= start.load(ordering: .acquiring) && words[Self.word(of: stream)] <= size
    }

    /// True if no stream that a slot was folded from has moved since.
    func isCertainlyUnmoved(_ slot: borrowing AccessSlot) -> Bool {
        guard slot.size >= start.load(ordering: .acquiring) else { return false }
        for index in 0..<slot.streamCount
        where words[Self.word(of: slot.streams[index])] > slot.size {
            return false
        }
        return true
    }

    /// Spreads stream numbers, which ascend, over the words (Fibonacci hashing).
    private static func word(of stream: UInt64) -> Int {
        Int(truncatingIfNeeded: (stream &* 0x9E37_79B9_7F4A_7C15) >> (64 - wordBits))
    }
}
