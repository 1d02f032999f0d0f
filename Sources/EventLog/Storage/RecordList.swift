// Fits throughout: lengths have at most 16 bits, and what is held stands in memory.

/// Records one after another in one buffer, each behind its length, as a bundle has them.
package struct RecordList: Sendable {
    private var bytes: [UInt8] = []
    /// Where the length of each stands.
    private var starts: [Int] = []

    /// Bytes of a length.
    private static let lengthByteCount = 2
    /// Bytes that most records take.
    private static let usualByteCount = 256

    /// Holds none.
    package init() {}

    /// Holds copies.
    package init(_ records: some Sequence<[UInt8]>) {
        for record in records { append(record) }
    }

    /// Makes room for so many more records.
    package mutating func reserveCapacity(_ count: Int) {
        starts.reserveCapacity(starts.count + count)
        bytes.reserveCapacity(bytes.count + count * Self.usualByteCount)
    }

    /// Adds a copy of a record.
    ///
    /// - Precondition: it has at most 65 535 bytes, as an entry of tlog-tiles.
    package mutating func append(_ record: Span<UInt8>) {
        precondition(record.count <= RecordHeader.lengthLimit, "a record fits into an entry")
        starts.append(bytes.count)
        bytes.append(UInt8(truncatingIfNeeded: record.count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: record.count))
        bytes.append(copying: record)
    }

    /// Adds a copy of a record.
    package mutating func append(_ record: [UInt8]) { append(record.span) }

    /// Adds copies of records of another list.
    package mutating func append(_ others: RecordList, _ range: Range<Int>) {
        let part = others.bytes(of: range)
        for index in range { starts.append(others.starts[index] - part.lowerBound + bytes.count) }
        bytes.append(copying: others.bytes.span.extracting(part))
    }

    /// Adds a record at its place in the log: law 1 holds from here on.
    ///
    /// - Returns: its leaf hash.
    mutating func append(
        _ record: SealedRecord,
        sequence: UInt64,
        recordedAt: Int64,
        attachedAt: UInt64
    ) -> Digest {
        append(record.bytes.span)
        let start = bytes.count - record.bytes.count
        let end = bytes.count - RecordHeader.checksumCount
        bytes.replace(at: start + 8, sequence)
        bytes.replace(at: start + 16, recordedAt)
        if record.hasAttached { bytes.replace(at: start + 72, attachedAt) }
        bytes.replace(at: end, CRC32C.checksum(bytes.span.extracting(start..<end)))
        return TreeHash.leaf(bytes.span.extracting(start..<bytes.count))
    }

    /// Takes away the last records.
    package mutating func removeLast(_ count: Int = 1) {
        bytes.removeSubrange(bytes(of: starts.count - count..<starts.count))
        starts.removeLast(count)
    }

    /// Where some records stand, their lengths with them.
    private func bytes(of range: Range<Int>) -> Range<Int> {
        func start(_ index: Int) -> Int { index < starts.count ? starts[index] : bytes.count }
        return start(range.lowerBound)..<start(range.upperBound)
    }

    /// The bundle, or the tail value, of some of the records.
    package func packed(_ range: Range<Int>) -> [UInt8] {
        let part = bytes(of: range)
        var writer = ByteWriter(reservingCapacity: part.count + 4 * range.count + 8)
        writer.append(bytes.span.extracting(part))
        for index in range { writer.append(UInt32(starts[index] - part.lowerBound)) }
        writer.append(UInt32(range.count))
        writer.append(Bundle.magic)
        return writer.bytes
    }
}

extension RecordList: RandomAccessCollection {
    /// The first record's place.
    package var startIndex: Int { 0 }
    /// The place behind the last record.
    package var endIndex: Int { starts.count }

    /// A copy of a record.
    package subscript(index: Int) -> [UInt8] {
        let range = bytes(of: index..<index + 1)
        return bytes.span.copy(range.lowerBound + Self.lengthByteCount..<range.upperBound)
    }
}
