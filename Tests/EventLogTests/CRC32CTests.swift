import EventLog
import Testing

@Suite struct CRC32CTests {
    @Test(
        arguments: [
            ("", 0), ("123456789", 0xE306_9283), ("a", 0xC1D0_4330),
            (String(repeating: "\0", count: 32), 0x8A91_36AA),
        ] as [(String, UInt32)]
    )
    func `CRC-32C has the published values`(text: String, checksum: UInt32) {
        #expect(CRC32C.checksum(Array(text.utf8).span) == checksum)
    }

    @Test func `CRC-32C of any length is CRC-32C bit by bit, whole or joined`() {
        var generator = SeededGenerator(seed: 1)
        for count in Array(0...70)
            + (0..<100).map({ _ in Int.random(in: 0...4096, using: &generator) })
        {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let whole = bitwise(bytes)
            #expect(CRC32C.checksum(bytes.span) == whole, "\(count) bytes, seed 1")
            let cut = Int.random(in: 0...count, using: &generator)
            let first = CRC32C.checksum(bytes.span.extracting(0..<cut))
            let joined = CRC32C.checksum(bytes.span.extracting(cut..<count), after: first)
            #expect(joined == whole, "cut at \(cut) of \(count), seed 1")
        }
    }

    @Test func `one flipped bit changes the checksum`() {
        var bytes = Array("a record of some length".utf8)
        let before = CRC32C.checksum(bytes.span)
        for bit in 0..<bytes.count * 8 {
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(CRC32C.checksum(bytes.span) != before, "bit \(bit)")
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        }
    }

    private func bitwise(_ bytes: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
        }
        return ~crc
    }
}
