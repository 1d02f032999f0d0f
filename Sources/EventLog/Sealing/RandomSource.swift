import Synchronization

/// Randomness as an argument: the system's for a ledger, a seed's for tests.
package struct RandomSource: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    /// Draws words from a closure.
    package init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    /// The system's cryptographically secure generator, drawn through a buffer of the process.
    ///
    /// A call of the system for each nonce would cost more than sealing.
    package static let system: RandomSource = {
        let buffer = RandomBuffer()
        return RandomSource { buffer.next() }
    }()

    /// The next word.
    package mutating func next() -> UInt64 { draw() }

    /// Bytes for a key or an id.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            let word = next()
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

/// Random words that are drawn many at a time and handed out once each.
private final class RandomBuffer: Sendable {
    private let words = Mutex<[UInt64]>([])
    private static let wordCount = 512

    func next() -> UInt64 {
        words.withLock { words in
            if words.isEmpty { words = Self.drawn() }
            return words.removeLast()
        }
    }

    private static func drawn() -> [UInt64] {
        let bytes = [UInt8](randomCount: wordCount * 8)
        return (0..<wordCount).map { bytes.span.uint64(at: $0 * 8) }
    }
}
