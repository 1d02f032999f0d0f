// Words in memory that any number of threads read and change without a lock.

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A fixed number of 64-bit words, shared between threads without a lock.
///
/// Unchecked: the address never changes, the words are reached atomically.
@safe
public final class AtomicWords: @unchecked Sendable {
    /// An atomic of the Swift library is laid out as its value.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// The number of words.
    public let count: Int

    /// Makes words that are 0; 8 bytes each, of which the system gives a page when it is first
    /// written.
    ///
    /// - Precondition: `count` is positive, and the system has memory for them.
    public init(count: Int) {
        precondition(count > 0, "there are words")
        self.count = count
        let mapped = unsafe mmap(
            nil,
            count * MemoryLayout<UInt64>.size,
            PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS,
            -1,
            0
        )
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            preconditionFailure("the system has no memory for \(count) words")
        }
        #if os(Linux)
        // Words are read at random: a small page each would miss the processor's page table cache.
        _ = unsafe madvise(mapped, count * MemoryLayout<UInt64>.size, MADV_HUGEPAGE)
        #endif
        unsafe words = unsafe mapped.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    deinit {
        let unmapped = unsafe munmap(words, count * MemoryLayout<UInt64>.size)
        assert(unmapped == 0, "what was mapped can be unmapped")
    }

    /// A word; what its writer did before raising or releasing it is seen after this.
    ///
    /// - Precondition: `index` is below ``count``.
    public subscript(index: Int) -> UInt64 {
        unsafe word(index).pointee.load(ordering: .acquiring)
    }

    /// Sets a word to a value, unless it is higher already.
    ///
    /// - Precondition: `index` is below ``count``.
    public func raise(_ index: Int, to value: UInt64) {
        _ = unsafe word(index).pointee.max(value, ordering: .acquiringAndReleasing)
    }

    /// A word, in no order with others.
    @inline(__always)
    func loadRelaxed(_ index: Int) -> UInt64 {
        unsafe word(index).pointee.load(ordering: .relaxed)
    }

    /// Sets a word, in no order with others.
    @inline(__always)
    func storeRelaxed(_ value: UInt64, _ index: Int) {
        unsafe word(index).pointee.store(value, ordering: .relaxed)
    }

    /// Sets a word; earlier stores stay earlier.
    @inline(__always)
    func storeReleasing(_ value: UInt64, _ index: Int) {
        unsafe word(index).pointee.store(value, ordering: .releasing)
    }

    @inline(__always)
    private func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        precondition(index >= 0 && index < count, "a word of these")
        return unsafe words + index
    }
}
