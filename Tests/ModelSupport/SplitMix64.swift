import Synchronization

/// A generator that a seed determines.
///
/// Sebastiano Vigna, SplitMix64, prng.di.unimi.it/splitmix64.c.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// True so many times in a hundred.
    package mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    /// One of them; early ones more often if skewed.
    package mutating func pick<Element>(_ elements: [Element], skewed: Bool = false) -> Element {
        let index = Int.random(in: elements.indices, using: &self)
        guard skewed else { return elements[index] }
        return elements[min(index, Int.random(in: elements.indices, using: &self))]
    }

    /// Each of them with that chance.
    package mutating func some<Element>(of elements: [Element], _ percent: Int) -> [Element] {
        elements.filter { _ in chance(percent) }
    }
}

/// A generator that a seed determines and that several hold.
package final class SeededWords: Sendable {
    private let random: Mutex<SplitMix64>

    package init(_ seed: UInt64) { random = Mutex(SplitMix64(seed: seed)) }

    package func next() -> UInt64 { random.withLock { $0.next() } }
}
