/// What stands in the place of a record that a salvage could not bring back: a gap that keeps its
/// sequence and, where a tile still had it, the leaf hash of what is lost.
///
/// So the tree stays the one that was signed, and every other record keeps its proof. It is shorter
/// than any record; readers of events pass over it, an audit names it.
///
/// Layout: `ELL1`, length u32, sequence u64, recorded time of the record before i64, cause u8,
/// whether the leaf hash is known u8, leaf hash (32), CRC-32C.
package struct LostRecord: Sendable, Hashable {
    /// The place in the log that is empty.
    package var sequence: UInt64
    /// T3 of the record before it, milliseconds since 1970; law 2 holds over gaps too.
    package var recordedAt: Int64
    /// What became of the record, as far as the damaged file told.
    package var cause: Cause
    /// The leaf hash of the record that is lost; nil where that is lost too.
    package var leaf: Digest?

    /// What became of a record.
    package enum Cause: UInt8, Sendable, CaseIterable {
        /// Nothing of it was found.
        case missing = 0
        /// Its bytes are there and do not give their checksum.
        case checksum = 1
        /// Its place is full of zeros.
        case zeroed = 2
        /// The file ends before it.
        case truncated = 3
        /// Its place holds something else.
        case overwritten = 4
        /// A whole record stands there, with another hash than the tree's.
        case altered = 5
        /// Several records claim the place, and no hash tells which is right.
        case ambiguous = 6
    }

    private static let magic: UInt32 = 0x314C_4C45
    /// Bytes of a gap; a record has more.
    package static let byteCount = 62

    /// Describes a gap.
    package init(sequence: UInt64, recordedAt: Int64, cause: Cause, leaf: Digest?) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.cause = cause
        self.leaf = leaf
    }

    /// Whether an entry of the log is a gap; only what tells it from a record is looked at.
    package static func isOne(_ entry: Span<UInt8>) -> Bool {
        entry.count == byteCount && entry.uint32(at: 0) == magic
    }

    /// Reads a gap; nil: the entry is none, or not whole.
    package init?(_ entry: Span<UInt8>) {
        let end = Self.byteCount - RecordHeader.checksumCount
        guard Self.isOne(entry), Int(entry.uint32(at: 4)) == Self.byteCount,
            let cause = Cause(rawValue: entry[24]), entry[25] <= 1,
            CRC32C.checksum(entry.extracting(0..<end)) == entry.uint32(at: end)
        else { return nil }
        self.init(
            sequence: entry.uint64(at: 8),
            recordedAt: entry.int64(at: 16),
            cause: cause,
            leaf: entry[25] == 1 ? Digest(entry, at: 26) : nil
        )
    }

    /// The bytes that stand in the record's place.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reservingCapacity: Self.byteCount)
        writer.append(Self.magic)
        writer.append(UInt32(Self.byteCount))
        writer.append(sequence)
        writer.append(recordedAt)
        writer.append(cause.rawValue)
        writer.append(UInt8(leaf == nil ? 0 : 1))
        if let leaf {
            writer.append(leaf)
        } else {
            writer.bytes += Array(repeating: 0, count: Digest.byteCount)
        }
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }
}

extension TreeHash {
    /// The leaf hash of an entry of the log: of a record its own, of a gap the one that it keeps.
    ///
    /// A gap without one counts as the bytes that it is.
    package static func leaf(ofEntry entry: Span<UInt8>) -> Digest {
        LostRecord(entry)?.leaf ?? leaf(entry)
    }
}
