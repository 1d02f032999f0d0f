import Entitlements
import EventLog
import PostingIndex
import Synchronization

/// Which streams may have moved since a size of the log, for questions that cannot wait for a lock.
///
/// Streams share words: "unmoved" is certain, "moved" is for the tables and the overlay to tell.
final class StreamMoves: Sendable {
    private let words = AtomicWords()
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
            words.raise(Self.word(of: entry.stream), to: entry.sequence + 1)
            for stream in entry.others {
                words.raise(Self.word(of: stream), to: entry.sequence + 1)
            }
        }
    }

    /// True if no event of a stream was recorded at or after a size of the log.
    func isCertainlyUnmoved(_ stream: UInt64, since size: UInt64) -> Bool {
        size >= start.load(ordering: .acquiring) && words[Self.word(of: stream)] <= size
    }

    /// Spreads stream numbers, which ascend, over the words (Fibonacci hashing).
    private static func word(of stream: UInt64) -> Int {
        Int(truncatingIfNeeded: (stream &* 0x9E37_79B9_7F4A_7C15) >> (64 - AtomicWords.countBits))
    }
}

/// Words that any number of threads read and raise without a lock; half a megabyte, which stays in
/// a core's cache.
private final class AtomicWords: Sendable {
    static let countBits: UInt64 = 16
    private static let pageBits = 8

    private final class Page: Sendable {
        let words = InlineArray<256, Atomic<UInt64>> { _ in Atomic(0) }
    }

    private let pages = (0..<(1 << (Int(countBits) - pageBits))).map { _ in Page() }

    /// A word; what was done before it was raised is seen after this.
    subscript(index: Int) -> UInt64 {
        pages[index >> Self.pageBits].words[index & (1 << Self.pageBits - 1)]
            .load(ordering: .acquiring)
    }

    /// Sets a word to a value, unless it is higher already.
    func raise(_ index: Int, to value: UInt64) {
        _ = pages[index >> Self.pageBits].words[index & (1 << Self.pageBits - 1)]
            .max(value, ordering: .acquiringAndReleasing)
    }
}
