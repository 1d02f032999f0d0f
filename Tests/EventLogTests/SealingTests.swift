import Crypto
import EventLog
import Testing

/// What is hashed in place is what others hash.
struct `Hashing` {
    /// Bytes of lengths around those of blocks.
    private static let lengths = Array(0...70) + [127, 128, 255, 256, 257, 4095, 4097]

    @Test func `is SHA-256, whatever the lengths`() {
        var generator = SeededGenerator(seed: 4)
        for count in Self.lengths {
            let bytes = generator.bytes(count)
            #expect(TreeHash.attached(bytes.span).bytes == Array(SHA256.hash(data: bytes)))
            #expect(TreeHash.leaf(bytes.span).bytes == Array(SHA256.hash(data: [0] + bytes)))
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}
