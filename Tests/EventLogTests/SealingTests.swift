import Crypto
import EventLog
import Testing

/// What is sealed and hashed in place is what others seal and hash.
struct `Sealing and hashing` {
    /// Bytes of lengths around those of blocks.
    private static let lengths = Array(0...70) + [127, 128, 255, 256, 257, 4095, 4097]

    @Test func `seal as swift-crypto's AES-GCM does, whatever the lengths`() throws {
        var generator = SeededGenerator(seed: 2)
        for (plainCount, boundCount) in zip(Self.lengths, Self.lengths.reversed()) {
            let key = SymmetricKey(data: generator.bytes(32))
            let plain = generator.bytes(plainCount)
            let bound = generator.bytes(boundCount)
            let (nonce, nonceBytes) = generator.nonce()
            let sealed = try Sealing.seal(plain, key: key, nonce: nonce, associatedData: bound)
            let expected = try AES.GCM.seal(
                plain,
                using: key,
                nonce: AES.GCM.Nonce(data: nonceBytes),
                authenticating: bound
            )
            #expect(sealed == expected.combined.map { Array($0) }, "\(plainCount) bytes, seed 2")
            #expect(Sealing.open(sealed, key: key, associatedData: bound) == plain)
        }
    }

    @Test func `open nothing of which a bit was altered`() throws {
        var generator = SeededGenerator(seed: 3)
        let key = SymmetricKey(data: generator.bytes(32))
        let bound = generator.bytes(9)
        let sealed = try Sealing.seal(
            generator.bytes(20),
            key: key,
            nonce: generator.nonce().nonce,
            associatedData: bound
        )
        for index in sealed.indices {
            var altered = sealed
            altered[index] ^= 1
            #expect(Sealing.open(altered, key: key, associatedData: bound) == nil, "byte \(index)")
            #expect(Sealing.open(Array(sealed[..<index]), key: key, associatedData: bound) == nil)
        }
        #expect(Sealing.open(sealed, key: key, associatedData: bound + [0]) == nil)
        let other = SymmetricKey(data: generator.bytes(32))
        #expect(Sealing.open(sealed, key: other, associatedData: bound) == nil)
        // The control: as it was it opens.
        #expect(Sealing.open(sealed, key: key, associatedData: bound) != nil)
    }

    @Test func `hash as SHA-256 does, whatever the lengths`() {
        var generator = SeededGenerator(seed: 4)
        for count in Self.lengths {
            let bytes = generator.bytes(count)
            #expect(TreeHash.attached(bytes.span).bytes == Array(SHA256.hash(data: bytes)))
            #expect(TreeHash.leaf(bytes.span).bytes == Array(SHA256.hash(data: [0] + bytes)))
        }
    }

    @Test func `are done by many threads at once`() async throws {
        var generator = SeededGenerator(seed: 5)
        let messages = (0..<64).map { _ in
            (key: generator.bytes(32), plain: generator.bytes(100), nonce: generator.nonce().nonce)
        }
        let isOpened = try await withThrowingTaskGroup(of: Bool.self) { group in
            for message in messages {
                group.addTask {
                    let key = SymmetricKey(data: message.key)
                    let sealed = try Sealing.seal(
                        message.plain,
                        key: key,
                        nonce: message.nonce,
                        associatedData: []
                    )
                    return Sealing.open(sealed, key: key, associatedData: []) == message.plain
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(isOpened.count == messages.count && !isOpened.contains(false))
    }
}

extension SeededGenerator {
    fileprivate mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// A nonce and its bytes.
    fileprivate mutating func nonce() -> (nonce: SealingNonce, bytes: [UInt8]) {
        let seed = next()
        var source = RandomSource { seed }
        let nonce = SealingNonce(using: &source)
        return (nonce, source.bytes(SealingNonce.byteCount))
    }
}
