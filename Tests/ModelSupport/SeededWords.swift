import Synchronization

/// A generator that a seed determines and that several hold.
package final class SeededWords: Sendable {
    private let random: Mutex<SplitMix64>

    package init(_ seed: UInt64) { random = Mutex(SplitMix64(seed: seed)) }

    package func next() -> UInt64 { random.withLock { $0.next() } }
}
