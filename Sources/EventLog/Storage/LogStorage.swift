/// A log as it is read: a whole one, the first events of one, or a copy; by page, without cursors
/// that stay open.
package protocol LogReader: Sendable, TileSource {
    /// The log's end as last committed. Cost: one small read.
    func end() throws -> LogEnd

    /// Hands out blocks of records (`Bundle`), each with the sequence of its first record,
    /// ascending from the block that holds `first`; stops at `end` (exclusive) or when the body
    /// returns false.
    ///
    /// - Throws: `LogStorageFault` if a record before `end` is not there; what `body` throws.
    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (_ first: UInt64, _ block: Span<UInt8>) throws -> Bool
    ) throws

    /// Lends single records in the order asked; all of them from one state of the log.
    ///
    /// - Throws: `LogStorageFault` if one is not there.
    func readRecords(
        _ sequences: [UInt64],
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Void
    ) throws

    /// The evidence or attachment that a record carries; nil if there is none.
    func attached(at sequence: UInt64) throws -> [UInt8]?

    /// Lends evidences and attachments, ascending by the record that carries them, from one on,
    /// until the body returns false.
    func readAttached(
        from first: UInt64,
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Bool
    ) throws

    /// What was kept for the parts of evidence with this digest; nil if there is none.
    func sharedPart(_ digest: Digest) throws -> [UInt8]?

    /// The signed checkpoints that were kept, ascending by size.
    func checkpoints() throws -> [(size: UInt64, note: String)]

    /// The last of them; nil for none. Cost: one small read.
    func lastCheckpoint() throws -> (size: UInt64, note: String)?

    /// The new streams that stand in the log, ascending from one on: those that the vault has not
    /// taken over, and what it took over last.
    func newStreams(from first: UInt64) throws -> [NewStream]

    /// Waits until the vault has taken over what stands in the log by now: then its keys stand in the
    /// vault and in the synced second copy.
    ///
    /// - Throws: `LogStorageFault.busy` where nobody takes it over for long.
    func awaitTakeOver() throws
}

extension LogReader {
    /// All that there are, for a log that has no shorter way.
    ///
    /// Cost: a look-up for each record.
    package func readAttached(
        from first: UInt64,
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        let end = try end().size
        for sequence in first..<max(first, end) {
            guard let attached = try attached(at: sequence) else { continue }
            if try !body(sequence, attached.span) { return }
        }
    }

    /// The last of all, for a log that has no shorter way.
    package func lastCheckpoint() throws -> (size: UInt64, note: String)? {
        try checkpoints().last
    }

    /// None, for a log whose vault keeps them by itself.
    package func newStreams(from first: UInt64) throws -> [NewStream] { [] }

    /// Waits for nothing, for a log whose vault keeps them by itself.
    package func awaitTakeOver() throws {}
}

/// Where the log stands durably, and is written.
///
/// One conformance suite proves every storage alike.
package protocol LogStorage: LogReader {
    /// Appends in one durable commit: all of it stands on the disk when this returns.
    ///
    /// - Returns: the log's new end.
    /// - Throws: `LogStorageFault`; a batch that does not begin at the log's end is refused and
    ///   changes nothing; after `outcomeUnknown` the log must be opened again.
    func append(_ batch: LogBatch) throws -> LogEnd

    /// Opens the log anew after a commit whose outcome is unknown; `end` then tells it.
    func reopen() throws

    /// Deletes the evidence that these records carry, here and in every copy that can be reached: in
    /// its place stands that it was (`ErasedEvidence`), and no file holds a byte of it any more.
    ///
    /// What is deleted already stays so: it goes on where it was stopped.
    func eraseEvidence(of sequences: [UInt64]) throws

    /// Whether customers may be erased from this log.
    ///
    /// `evidence`: whether evidence is to be deleted for it.
    ///
    /// - Throws: `LogStorageFault` where they may not.
    func requireErasable(evidence: Bool) throws

    /// Keeps a signed checkpoint, durably.
    func keepCheckpoint(size: UInt64, note: String) throws

    /// Notes that the vault has taken over the new streams up to this one, durably: the next batches
    /// remove them.
    func tookOver(upTo stream: UInt64)

    /// Removes what was taken over in a commit of its own; none where there is nothing.
    func removeTakenOver() throws
}

extension LogStorage {
    /// Nothing, for a log whose vault keeps new streams by itself.
    package func tookOver(upTo stream: UInt64) {}

    /// Nothing, for a log whose vault keeps new streams by itself.
    package func removeTakenOver() throws {}

    /// They may be, from a log that is one machine's.
    package func requireErasable(evidence: Bool) throws {}

    /// None, for a storage that nothing is erased from.
    package func eraseEvidence(of sequences: [UInt64]) throws {
        guard sequences.isEmpty else {
            throw LogStorageFault(.unreadable, "evidence is not deleted from this storage")
        }
    }
}

/// The end of a log.
package struct LogEnd: Sendable, Equatable {
    /// The tree's right edge; its size is the number of records.
    package var edge: TreeEdge
    /// T3 of the last record; the smallest instant for an empty log.
    package var lastRecordedAt: Int64
    /// The highest counter of a stream that a record names; the vault never reuses it.
    package var highestCounter: UInt64
    /// T3 of the last record that was not imported with its time; nil where there is none, or none is
    /// known: a copy of a log does not tell.
    package var lastOwnRecordedAt: Int64?

    /// An empty log.
    package static let empty = LogEnd(
        edge: TreeEdge(),
        lastRecordedAt: .min,
        highestCounter: 0
    )

    /// Makes an end.
    package init(
        edge: TreeEdge,
        lastRecordedAt: Int64,
        highestCounter: UInt64,
        lastOwnRecordedAt: Int64? = nil
    ) {
        self.edge = edge
        self.lastRecordedAt = lastRecordedAt
        self.highestCounter = highestCounter
        self.lastOwnRecordedAt = lastOwnRecordedAt
    }

    /// Number of records.
    package var size: UInt64 { edge.size }
}

/// What one commit adds.
package struct LogBatch: Sendable {
    /// Sequence of the first record; the log's size before.
    package var first: UInt64
    /// Whole records, in order.
    package var records: RecordList
    /// Their leaf hashes.
    package var leaves: [Digest]
    /// Evidence and attachments by the record that they are attached to.
    package var attached: [(sequence: UInt64, bytes: [UInt8])]
    /// Parts of evidence that are kept once; one whose digest the log holds already is passed over.
    package var sharedParts: [(digest: Digest, bytes: [UInt8])]
    /// T3 of the last record.
    package var lastRecordedAt: Int64
    /// The highest counter of a stream, with those before.
    package var highestCounter: UInt64
    /// T3 of the last record that was not imported with its time; nil: none is known.
    package var lastOwnRecordedAt: Int64?
    /// What views and overlay keep of the records.
    package var entries: [IndexEntry]
    /// Streams that are new with it, ascending.
    package var newStreams: [NewStream]

    /// A batch without records that goes on from a log's end.
    package init(after end: LogEnd) {
        first = end.size
        records = RecordList()
        leaves = []
        attached = []
        sharedParts = []
        lastRecordedAt = end.lastRecordedAt
        highestCounter = end.highestCounter
        lastOwnRecordedAt = end.lastOwnRecordedAt
        entries = []
        newStreams = []
    }
}

/// What goes wrong beneath the log.
public struct LogStorageFault: Error, Sendable, Equatable {
    /// What kind of fault.
    public var code: Code
    /// A sentence without paths or ids.
    public var message: String

    /// The closed set of faults.
    public enum Code: String, Sendable {
        /// The map or the disk is full: nothing of the batch stands.
        case full
        /// A commit failed: whether it stands is known after opening again.
        case outcomeUnknown = "outcome_unknown"
        /// Bytes that are not what was written.
        case damaged
        /// Another file stands in the place of one that is open for writing: nothing was written.
        case replaced
        /// The disk does not answer.
        case unreadable
        /// Too many readers at once.
        case busy
        /// A record of a format that this version does not know (E5).
        case newerFormat = "newer_format"
        /// Of several machines, this one may not write now: nothing of the batch stands.
        case noLeader = "no_leader"
        /// It is not done where several machines have the log.
        case notInCluster = "not_in_cluster"
    }

    /// Makes a fault.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
