import EventLog

/// A block of a posting table: fixed in size, read and checked alone.
///
/// Layout: how many postings it holds (u16), the block's number (u64), the postings, zeros, an
/// authentication code (16). The key is the table's, so that a block that somebody else made, one
/// of another table or at another place does not pass.
///
/// A posting is a number n in base 128, lowest digits first, 128 added to all but the last. An odd
/// n: another key, (n - 1) / 2 is the sequence less the table's first one; a second such number is
/// what the key has grown by since the last posting, or since 0. An even n: the same key, n / 2 is
/// what the sequence has grown by. Then the tag (u8).
enum PostingBlock {
    /// Bytes of a block.
    static let byteCount = 1024
    private static let numberOffset = 2
    private static let headerCount = 10
    private static let codeOffset = byteCount - AuthenticationCode.byteCount
    /// Bytes that the longest posting takes: two numbers of 64 bits and a tag.
    private static let longestPosting = 21

    /// Fills blocks.
    struct Encoder {
        private(set) var bytes = [UInt8](repeating: 0, count: byteCount)
        private(set) var count = 0
        private var end = headerCount
        private var last = Posting(key: 0, sequence: 0, tag: 0)
        /// The sequence that the table begins with.
        let firstSequence: UInt64

        init(firstSequence: UInt64) { self.firstSequence = firstSequence }

        /// Whether one more posting fits, however long it is.
        var hasRoom: Bool { end + longestPosting <= codeOffset }

        mutating func append(_ posting: Posting) {
            if count > 0, posting.key == last.key {
                append(number: (posting.sequence - last.sequence) << 1)
            } else {
                append(number: (posting.sequence - firstSequence) << 1 | 1)
                append(number: posting.key - last.key)
            }
            bytes[end] = posting.tag
            end += 1
            count += 1
            last = posting
        }

        private mutating func append(number: UInt64) {
            var number = number
            while number >= 0x80 {
                bytes[end] = UInt8(truncatingIfNeeded: number) | 0x80
                number >>= 7
                end += 1
            }
            bytes[end] = UInt8(truncatingIfNeeded: number)
            end += 1
        }

        /// Ends the block: writes count, number and code.
        mutating func seal(_ key: KeyedHash, number: Int) {
            bytes[0] = UInt8(truncatingIfNeeded: count)
            bytes[1] = UInt8(truncatingIfNeeded: count >> 8)
            for place in 0..<8 {
                bytes[numberOffset + place] = UInt8(truncatingIfNeeded: number >> (8 * place))
            }
            let code = PostingBlock.code(of: bytes.span, under: key)
            bytes.replaceSubrange(codeOffset..., with: code.bytes)
        }
    }

    /// The code of all that stands before it.
    private static func code(of block: Span<UInt8>, under key: KeyedHash) -> AuthenticationCode {
        AuthenticationCode(of: block.extracting(0..<codeOffset), under: key)
    }

    /// Checks a block and hands out its postings, in order.
    ///
    /// - Throws: `ViewDamage`, before it hands out any.
    static func read(
        _ block: Span<UInt8>,
        _ key: KeyedHash,
        number: Int,
        firstSequence: UInt64,
        _ body: (Posting) -> Void
    ) throws(ViewDamage) {
        guard block.count == byteCount,
            code(of: block, under: key).matches(AuthenticationCode(block, at: codeOffset)),
            block.uint64(at: numberOffset) == UInt64(number)
        else { throw ViewDamage("a block of the views is not what this ledger wrote there") }
        var position = headerCount
        var posted: UInt64 = 0
        var sequence: UInt64 = 0
        for _ in 0..<block.uint16(at: 0) {
            let number = try self.number(block, &position)
            if number & 1 == 1 {
                posted &+= try self.number(block, &position)
                sequence = firstSequence &+ number >> 1
            } else {
                sequence &+= number >> 1
            }
            guard position < codeOffset else { throw misshapen }
            body(Posting(key: posted, sequence: sequence, tag: block[position]))
            position += 1
        }
    }

    private static func number(
        _ block: Span<UInt8>,
        _ position: inout Int
    ) throws(ViewDamage) -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while position < codeOffset, shift < 64 {
            let byte = block[position]
            position += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        throw misshapen
    }

    private static let misshapen = ViewDamage("a block of the views has another shape")
}
