// Words in memory that any number of threads read and raise without a lock.

internal import Synchronization

/// A fixed number of 64-bit words that only grow, shared between threads without a lock.
///
/// Unchecked: the address never changes, the words are reached atomically.
@safe
public final class AtomicWords: @unchecked Sendable {
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// The number of words.
    public let count: Int

    /// Makes words that are 0; 8 bytes each.
    ///
    /// - Precondition: `count` is positive.
    public init(count: Int) {
        precondition(count > 0, "there are words")
        self.count = count
        unsafe words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: count)
        for index in 0..<count {
            unsafe (words + index).initialize(to: Atomic(0))
        }
    }

    deinit {
        unsafe words.deinitialize(count: count)
        unsafe words.deallocate()
    }

    /// A word; what its writer did before raising it is seen after this.
    ///
    /// - Precondition: `index` is below ``count``.
    public subscript(index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "a word of these")
        return unsafe words[index].load(ordering: .acquiring)
    }

    /// Sets a word to a value, unless it is higher already.
    ///
    /// - Precondition: `index` is below ``count``.
    public func raise(_ index: Int, to value: UInt64) {
        precondition(index >= 0 && index < count, "a word of these")
        _ = unsafe words[index].max(value, ordering: .acquiringAndReleasing)
    }
}
