import Testing

@testable import Encodings

/// Lent bytes are passed over many at a time, and tell what one by one tells.
struct `Lent bytes` {
    /// Those around the ends of the ranges that the passes tell apart.
    private static let bytes: [UInt8] = [
        0x00, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0x80, 0xA2, 0xDC, 0xFF,
    ]

    @Test(arguments: 0..<40)
    func `end a plain run where the first byte ends it`(count: Int) {
        let plain = [UInt8](repeating: UInt8(ascii: "a"), count: count)
        for place in 0..<count {
            for byte in Self.bytes {
                var bytes = plain
                bytes[place] = byte
                for start in [0, place / 2, place] {
                    let found = bytes.span.plainEnd(from: start)
                    let end = byte < 0x20 || byte == 0x22 || byte == 0x5C ? place : count
                    #expect(found.end == end, "\(byte) at \(place) of \(count)")
                    #expect(found.isASCII == (end == place || byte < 0x80))
                }
            }
        }
        let whole = plain.span.plainEnd(from: 0)
        #expect(whole.end == count && whole.isASCII)
    }

    @Test(arguments: 0..<40)
    func `are the same where each byte is`(count: Int) {
        let bytes = (0..<count).map { UInt8($0) }
        let isSame = bytes.span.holdsSame(as: Array(bytes).span)
        let isLonger = bytes.span.holdsSame(as: (bytes + [0]).span)
        #expect(isSame && !isLonger)
        for place in 0..<count {
            var other = bytes
            other[place] ^= 0x80
            let isSame = bytes.span.holdsSame(as: other.span)
            #expect(!isSame, "\(place) of \(count)")
        }
    }
}
