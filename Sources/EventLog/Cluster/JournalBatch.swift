// Fits throughout: lengths are held against what is left of the bytes, counts have 32 bits.

/// A commit of a log as a cluster's journal keeps it: the bytes that each node's own log gets.
///
/// Layout of `bytes`, integers little-endian: `ELJ1`, records u32, last recorded time i64, highest
/// counter u64, whether a last own time follows u8, that time i64, attached u32, shared parts u32;
/// each record with its length u32 before it; each attached one as sequence u64, length u32, bytes;
/// each shared part as digest, length u32, bytes; CRC-32C of all before.
package struct JournalBatch: Sendable, Equatable {
    /// Sequence of the first record.
    package var first: UInt64
    /// Records.
    package var count: UInt32
    /// The tree's root behind it.
    package var root: Digest
    /// What the log gets.
    package var bytes: [UInt8]
    /// Streams that are new with it, as the vault keeps them.
    package var newStreams: [NewStream]

    private static let magic: UInt32 = 0x314A_4C45

    /// Puts one together from what a journal holds.
    package init(
        first: UInt64,
        count: UInt32,
        root: Digest,
        bytes: [UInt8],
        newStreams: [NewStream]
    ) {
        self.first = first
        self.count = count
        self.root = root
        self.bytes = bytes
        self.newStreams = newStreams
    }

    /// Packs a commit.
    ///
    /// `edge`: the tree's before it.
    ///
    /// - Precondition: the batch begins at the edge, and has fewer than 2^32 records.
    package init(_ batch: LogBatch, after edge: TreeEdge) {
        precondition(batch.first == edge.size, "a batch begins at the log's end")
        var edge = edge
        for leaf in batch.leaves { edge.append(leaf) }
        var writer = ByteWriter()
        writer.append(Self.magic)
        writer.append(UInt32(batch.records.count))
        writer.append(batch.lastRecordedAt)
        writer.append(batch.highestCounter)
        writer.append(batch.lastOwnRecordedAt == nil ? UInt8(0) : 1)
        writer.append(batch.lastOwnRecordedAt ?? 0)
        writer.append(UInt32(batch.attached.count))
        writer.append(UInt32(batch.sharedParts.count))
        for record in batch.records { writer.append(counted: record) }
        for part in batch.attached {
            writer.append(part.sequence)
            writer.append(counted: part.bytes)
        }
        for part in batch.sharedParts {
            writer.append(part.digest)
            writer.append(counted: part.bytes)
        }
        writer.append(CRC32C.checksum(writer.bytes.span))
        self.init(
            first: batch.first,
            count: UInt32(batch.records.count),
            root: edge.root,
            bytes: writer.bytes,
            newStreams: batch.newStreams
        )
    }

    /// Unpacks the commit, and checks that the tree grows by it to the root that it says.
    ///
    /// `end`: of the log that it is to be added to. Views fold the records themselves: it has no
    /// entries for them.
    ///
    /// - Throws: ``JournalFault``: `damaged` for other bytes, `newerFormat`, `otherHistory` for a place that is
    ///   not the log's end, or another root. Cost: a hash for each record.
    package func unpacked(after end: LogEnd) throws(JournalFault) -> LogBatch {
        guard first == end.size else {
            throw JournalFault(.otherHistory, "batch \(first) does not follow event \(end.size)")
        }
        let batch: LogBatch
        do {
            batch = try read(after: end)
        } catch {
            throw JournalFault(
                error.isNewer ? .newerFormat : .damaged,
                "batch \(first): " + error.what
            )
        }
        var edge = end.edge
        for leaf in batch.leaves { edge.append(leaf) }
        guard edge.root == root else {
            throw JournalFault(.otherHistory, "batch \(first) has another root than it says")
        }
        return batch
    }

    private func read(after end: LogEnd) throws(DecodingFault) -> LogBatch {
        let bytes = bytes.span
        guard bytes.count >= 4,
            CRC32C.checksum(bytes.extracting(0..<bytes.count - 4))
                == bytes.uint32(at: bytes.count - 4)
        else { throw DecodingFault(what: "its checksum differs", offset: bytes.count) }
        let content = bytes.extracting(0..<bytes.count - 4)
        var cursor = ByteCursor()
        guard try cursor.uint32(content) == Self.magic else {
            throw DecodingFault(what: "it is not a batch of this version", offset: 0)
        }
        let records = try cursor.uint32(content)
        guard records == count else {
            throw DecodingFault(what: "it has another number of records", offset: 4)
        }
        var batch = LogBatch(after: end)
        batch.lastRecordedAt = try cursor.int64(content)
        batch.highestCounter = try cursor.uint64(content)
        let hasOwn = try cursor.uint8(content) == 1
        let own = try cursor.int64(content)
        batch.lastOwnRecordedAt = hasOwn ? own : nil
        let (attached, shared) = (try cursor.uint32(content), try cursor.uint32(content))
        for _ in 0..<records {
            let range = try cursor.counted(content)
            guard range.count <= RecordHeader.lengthLimit else {
                throw DecodingFault(what: "a record is too long", offset: range.lowerBound)
            }
            batch.records.append(content.extracting(range))
            batch.leaves.append(TreeHash.leaf(ofEntry: content.extracting(range)))
        }
        for _ in 0..<attached {
            let sequence = try cursor.uint64(content)
            batch.attached.append((sequence, content.copy(try cursor.counted(content))))
        }
        for _ in 0..<shared {
            let place = try cursor.bytes(content, count: Digest.byteCount)
            let digest = Digest(content, at: place.lowerBound)
            batch.sharedParts.append((digest, content.copy(try cursor.counted(content))))
        }
        try cursor.finish(content)
        batch.newStreams = newStreams
        return batch
    }
}

extension LogBatch {
    /// Where a log ends behind it.
    ///
    /// - Precondition: it begins at `end`.
    package func end(after end: LogEnd) -> LogEnd {
        precondition(first == end.size, "a batch begins at the log's end")
        var edge = end.edge
        for leaf in leaves { edge.append(leaf) }
        return LogEnd(
            edge: edge,
            lastRecordedAt: lastRecordedAt,
            highestCounter: highestCounter,
            lastOwnRecordedAt: lastOwnRecordedAt
        )
    }
}

extension ByteWriter {
    /// Appends bytes behind their length.
    fileprivate mutating func append(counted bytes: [UInt8]) {
        append(UInt32(bytes.count))
        append(bytes.span)
    }
}

extension ByteCursor {
    /// Passes over bytes that stand behind their length.
    fileprivate mutating func counted(_ bytes: Span<UInt8>) throws(DecodingFault) -> Range<Int> {
        let count = Int(try uint32(bytes))
        return try self.bytes(bytes, count: count)
    }
}
