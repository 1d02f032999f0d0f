// The header: one page, in words of 8 bytes of the machine's order (the file never travels).
//
//     0 magic   1 version << 32 | payload bytes   2 slots   3 state (1 clean, else dirty)
//     4 to 10 identity   11 count   12 checksum of the words before
//
// A sealed header is written after its slots are on the disk; the dirty mark is on the disk before
// the first slot changes. So a clean mark is never above slots that it does not belong to.

struct MappedTableHeader: Equatable {
    static let byteCount = 4096
    static let countOffset = 11 * 8
    static let magic: UInt64 = 0x4c42_5450_414d_3145  // "E1MAPTBL"
    static let version: UInt64 = 1
    static let checksumOffset = 12 * 8
    static let stateOffset = 3 * 8

    var payloadBytes: Int
    var capacity: Int
    var isClean: Bool
    var identity: MappedTable.Identity
    var count: Int

    /// The words before the checksum.
    private var words: [UInt64] {
        var words = [MappedTableHeader.magic]
        words.append(MappedTableHeader.version << 32 | UInt64(payloadBytes))
        words.append(UInt64(capacity))
        words.append(isClean ? 1 : 0)
        words += identity.words
        words.append(UInt64(count))
        return words
    }

    func write(to file: MappedFile) {
        let words = words
        for (position, word) in words.enumerated() { file.store(word, position * 8) }
        file.store(MappedTableHeader.checksum(words), MappedTableHeader.checksumOffset)
    }

    /// The header of a clean table, or `nil`.
    init?(file: MappedFile) {
        let words = (0..<12).map { file.load($0 * 8) }
        guard
            words[0] == MappedTableHeader.magic,
            words[1] >> 32 == MappedTableHeader.version,
            words[3] == 1,
            file.load(MappedTableHeader.checksumOffset) == MappedTableHeader.checksum(words),
            let capacity = Int(exactly: words[2]),
            let count = Int(exactly: words[11])
        else { return nil }
        self.init(
            payloadBytes: Int(words[1] & 0xffff_ffff),
            capacity: capacity,
            isClean: true,
            identity: MappedTable.Identity(words: Array(words[4..<11])),
            count: count
        )
        guard
            MappedTable.payloadLimit.contains(payloadBytes),
            capacity > 0,
            capacity & (capacity - 1) == 0,
            count <= capacity,
            fileByteCount == file.count
        else { return nil }
    }

    init(
        payloadBytes: Int,
        capacity: Int,
        isClean: Bool,
        identity: MappedTable.Identity,
        count: Int
    ) {
        self.payloadBytes = payloadBytes
        self.capacity = capacity
        self.isClean = isClean
        self.identity = identity
        self.count = count
    }

    /// The length of the file, or `nil` beyond any file.
    var fileByteCount: Int? {
        let slots = capacity.multipliedReportingOverflow(
            by: MappedTableSlots.slotBytes(payloadBytes: payloadBytes)
        )
        let whole = slots.partialValue.addingReportingOverflow(MappedTableHeader.byteCount)
        return slots.overflow || whole.overflow ? nil : whole.partialValue
    }

    private static func checksum(_ words: [UInt64]) -> UInt64 {
        words.reduce(into: WordMix()) { $0.add($1) }.state
    }
}

/// A checksum against accidents: multiply and fold.
///
/// For each word both steps can be undone, so two inputs that differ in one word never agree in
/// the 64 bits; otherwise they agree by chance. It is no defence against an attacker.
struct WordMix {
    private(set) var state: UInt64 = 0x9e37_79b9_7f4a_7c15

    @inline(__always)
    mutating func add(_ word: UInt64) {
        state = (state ^ word) &* 0xd6e8_feb8_6659_fd93
        state ^= state >> 32
    }

    /// The upper half is in the lower one already by the last fold; two unequal states agree with
    /// a chance of 2^-32.
    @inline(__always)
    var half: UInt32 { UInt32(truncatingIfNeeded: state) }
}
