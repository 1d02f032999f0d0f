import LMDB
import Testing

@Suite struct KeyTests {
    @Test func `a key's order is the order of its numbers`() {
        let numbers: [UInt64] = [0, 1, 255, 256, 65_535, 65_536, 1 << 32, .max - 1, .max]
        let keys = numbers.map { bytes(of: Key($0)) }
        for (earlier, later) in zip(keys, keys.dropFirst()) {
            #expect(earlier.lexicographicallyPrecedes(later))
        }
        #expect(bytes(of: Key(1, 2)).lexicographicallyPrecedes(bytes(of: Key(1, 3))))
        #expect(bytes(of: Key(1, .max)).lexicographicallyPrecedes(bytes(of: Key(2, 0))))
    }

    @Test func `a key of bytes holds these bytes`() {
        let whole = (0..<64).map { UInt8($0) }
        for count in 0...64 {
            let part = Array(whole[..<count])
            let key = Key(part.span)
            #expect(key.count == count)
            #expect(bytes(of: key) == part)
        }
        #expect(Key([0, 0, 0, 0, 0, 0, 0, 7].span) == Key(7))
        #expect(Key([0].span) != Key([0, 0].span))
    }

    @Test func `integers come back as they were stored`() {
        var bytes = [UInt8](repeating: 0, count: 24)
        var span = bytes.mutableSpan
        span.storeUInt64BigEndian(0x0102_0304_0506_0708, at: 0)
        span.storeUInt64(0x0102_0304_0506_0708, at: 9)
        span.storeUInt32(0x0a0b_0c0d, at: 17)
        span.storeUInt16(0x0e0f, at: 21)
        #expect(
            bytes == [
                1, 2, 3, 4, 5, 6, 7, 8, 0, 8, 7, 6, 5, 4, 3, 2, 1, 13, 12, 11, 10, 15, 14, 0,
            ]
        )
        #expect(bytes.span.loadUInt64BigEndian(at: 0) == 0x0102_0304_0506_0708)
        #expect(bytes.span.loadUInt64(at: 9) == 0x0102_0304_0506_0708)
        #expect(bytes.span.loadUInt32(at: 17) == 0x0a0b_0c0d)
        #expect(bytes.span.loadUInt16(at: 21) == 0x0e0f)
    }

    private func bytes(of key: Key) -> [UInt8] {
        (0..<key.count).map { key[$0] }
    }
}
