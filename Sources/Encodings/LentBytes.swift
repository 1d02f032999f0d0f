// Unsafe: pointers to lent spans, each for one pass inside one closure, which stays below the count of
// what was lent.

extension Span<UInt8> {
    /// Whether both hold the same bytes.
    ///
    /// Cost: linear, many bytes at a time.
    package func holdsSame(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBufferPointer { own in
            unsafe other.withUnsafeBufferPointer { other in
                var differing: UInt8 = 0
                for index in 0..<own.count { unsafe differing |= own[index] ^ other[index] }
                return differing == 0
            }
        }
    }

    /// Where a run of characters ends that stand for themselves in a JSON string (RFC 8259,
    /// section 7): at a quotation mark, a backslash, a control character, or the end of the bytes.
    ///
    /// - Returns: the end, and whether all of the run is ASCII.
    func plainEnd(from start: Int) -> (end: Int, isASCII: Bool) {
        unsafe withUnsafeBytes { bytes in
            var end = start
            var seen: UInt64 = 0
            while end + 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: end, as: UInt64.self)
                if word.holdsEnd { break }
                seen |= word
                end += 8
            }
            while end < bytes.count {
                let byte = unsafe bytes[end]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
                seen |= UInt64(byte)
                end += 1
            }
            return (end, seen & UInt64.highBits == 0)
        }
    }
}

extension UInt64 {
    /// The highest bit of each of eight bytes.
    fileprivate static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Whether one of its eight bytes may end a plain run; a byte above 0x7F never does.
    fileprivate var holdsEnd: Bool {
        let quotation = self ^ (Self.ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = self ^ (Self.ones &* UInt64(UInt8(ascii: "\\")))
        // A borrow sets the high bit of a byte that is below what is taken from it.
        let below = (self &- Self.ones &* 0x20) & ~self
        let same = (quotation &- Self.ones) & ~quotation | (backslash &- Self.ones) & ~backslash
        return (below | same) & Self.highBits != 0
    }
}
