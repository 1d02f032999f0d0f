import EventLog

// Fits throughout: lengths have 16 bits, and `PageSweep` takes no sequence near the end of 64 bits.

/// Intact records that follow one another in a file and in the log, as a bundle or a tail value has
/// them.
struct RecordRun: Sendable {
    /// Sequence of the first.
    var first: UInt64
    /// Where the first one's bytes begin.
    var offset: UInt64
    /// Bytes from there to the end of the last one.
    var byteCount: Int
    /// How many there are: never more than a bundle has.
    var count: Int

    /// Bytes of the length before a record.
    static let prefixCount = 2

    var end: UInt64 { first + UInt64(count) }

    /// Whether a record that begins at an offset goes on with the run.
    func isContinued(bySequence sequence: UInt64, at offset: UInt64) -> Bool {
        sequence == end && offset == self.offset + UInt64(byteCount + Self.prefixCount)
            && !sequence.isMultiple(of: Bundle.recordCount)
    }

    /// Adds the record behind.
    mutating func add(_ length: Int) {
        byteCount += Self.prefixCount + length
        count += 1
    }

    /// Lends the run's records; stops where one is not what it was.
    func forEach(
        in bytes: Span<UInt8>,
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) rethrows {
        var start = 0
        for index in 0..<count {
            guard bytes.count - start >= 8 else { return }
            let length = Int(bytes.uint32(at: start + 4))
            guard length <= bytes.count - start else { return }
            try body(first + UInt64(index), bytes.extracting(start..<start + length))
            start += length + Self.prefixCount
        }
    }
}
