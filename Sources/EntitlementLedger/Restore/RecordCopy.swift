package import EventLog

/// Writes records that exist already into another log: byte for byte, at their sequences.
///
/// What `restore` and `salvage` make a log of. Each record is checked (form, checksum, sequence,
/// recorded time); whether it is the one that stood there, the caller knows by the tree: see `end`.
package struct RecordCopy {
    private let log: any LogStorage
    private var batch: LogBatch
    private var tree: TreeEdge
    private var byteCount = 0
    /// Shared parts of evidence that the log holds, or will with this batch.
    private var knownParts: Set<EventLog.Digest> = []

    /// Records of one commit at most.
    static let recordLimit = 4096
    /// Bytes after which a commit is made.
    static let byteLimit = 16 << 20

    /// Continues a log at its end.
    ///
    /// - Throws: what the log throws.
    package init(into log: any LogStorage) throws {
        self.log = log
        let end = try log.end()
        batch = LogBatch(after: end)
        tree = end.edge
    }

    /// The sequence of the record that comes next.
    package var next: UInt64 { tree.size }

    /// The root of all that was appended, also of what waits for the next commit.
    package var root: EventLog.Digest { tree.root }

    /// Appends the next record, or the gap that stands in the place of one.
    ///
    /// It is durable when `finish` returns, or earlier. Amortized O(bytes).
    ///
    /// `attached`: the record's evidence or attachment; nil where it has none, or where that is lost.
    ///
    /// `sharedPart`: gives the bytes of a shared part of evidence; nil where it is lost.
    ///
    /// - Throws: `DecodingFault` or `LogStorageFault.damaged` for a record that cannot stand here;
    ///   what log and `sharedPart` throw. After that the copy is of no more use.
    package mutating func append(
        _ record: [UInt8],
        attached: [UInt8]? = nil,
        sharedPart: (EventLog.Digest) throws -> [UInt8]? = { _ in nil }
    ) throws {
        if let lost = LostRecord(record.span) {
            return try place(record, sequence: lost.sequence, recordedAt: lost.recordedAt)
        }
        let header = try RecordHeader(checking: record.span)
        let others = try header.otherStreams(record.span)
        for stream in [header.stream] + others {
            batch.highestCounter = max(batch.highestCounter, StreamNumber.counter(of: stream))
        }
        if let attached { try append(attached, of: header, sharedPart) }
        byteCount += attached?.count ?? 0
        try place(record, sequence: header.sequence, recordedAt: header.recordedAt)
    }

    private mutating func place(
        _ record: [UInt8],
        sequence: UInt64,
        recordedAt: Int64
    ) throws {
        guard sequence == next else {
            throw LogStorageFault(.damaged, "record \(next) states sequence \(sequence)")
        }
        guard recordedAt >= batch.lastRecordedAt else {
            throw LogStorageFault(.damaged, "recorded time goes back at record \(next)")
        }
        let leaf = TreeHash.leaf(ofEntry: record.span)
        batch.records.append(record)
        batch.leaves.append(leaf)
        batch.lastRecordedAt = recordedAt
        tree.append(leaf)
        byteCount += record.count
        if batch.records.count >= Self.recordLimit || byteCount >= Self.byteLimit { try commit() }
    }

    private mutating func append(
        _ attached: [UInt8],
        of header: RecordHeader,
        _ sharedPart: (EventLog.Digest) throws -> [UInt8]?
    ) throws {
        guard AttachedBytes.digest(of: attached.span) == header.attachedDigest,
            header.attachedAt == header.sequence
        else {
            throw LogStorageFault(.damaged, "what record \(next) carries is not what it names")
        }
        batch.attached.append((header.sequence, attached))
        guard header.attached == .evidence else { return }
        for digest in try SealedEvidence.sharedParts(of: attached.span)
        where knownParts.insert(digest).inserted {
            guard let part = try sharedPart(digest) else { continue }
            batch.sharedParts.append((digest, part))
            byteCount += part.count
        }
    }

    /// Makes what waits durable.
    ///
    /// - Returns: the log's end.
    /// - Throws: what the log throws.
    package mutating func finish() throws -> LogEnd {
        try commit()
        return try log.end()
    }

    private mutating func commit() throws {
        guard !batch.records.isEmpty else { return }
        batch = LogBatch(after: try log.append(batch))
        byteCount = 0
    }
}
