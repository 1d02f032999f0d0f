public import Entitlements
package import EventLog

/// Makes a log from an archive, whole or up to a point in what was recorded.
public struct ArchiveRestore {
    /// Where a restored log ends.
    public enum Cut: Sendable, Equatable {
        /// With the archive.
        case everything
        /// After so many events.
        case size(UInt64)
        /// After the last event recorded at or before an instant (T3).
        case recorded(Instant)
    }

    /// What a restore would do.
    public struct Plan: Sendable, Equatable {
        /// How many events the archive holds.
        public var archived: UInt64
        /// How many of them are restored.
        public var restored: UInt64
        /// When the last of them was recorded; nil for none.
        public var lastRecordedAt: Instant?
        /// A checkpoint of more than is restored, a signed note: the ledger never signs again unless
        /// it goes on under another name; nil: there is none.
        public var published: String?
        /// What of a salvage's loss concerns what is restored; nil: nothing.
        package var loss: KnownLoss?
    }

    private let reader: ArchiveReader
    private let key: VerifierKey
    /// What the archive was last signed at.
    package let checkpoint: Checkpoint
    private let note: SignedNote

    /// Reads an archive whose checkpoint is signed by a key.
    ///
    /// - Throws: `ArchiveFault`; what the reader throws.
    package init(_ reader: ArchiveReader, key: VerifierKey) throws {
        self.reader = reader
        self.key = key
        checkpoint = try reader.checkpoint(by: key)
        guard let note = try reader.note() else {
            throw ArchiveFault(.missing, "there is no checkpoint: this is no archive")
        }
        self.note = note
    }

    // MARK: Planning

    /// Says what a restore would do; reads O(log n) bundles.
    ///
    /// - Throws: `LedgerFault.unknownSequence` for a cut beyond the archive, `ArchiveFault`.
    package func plan(_ cut: Cut) throws -> Plan {
        let size: UInt64
        switch cut {
        case .everything: size = checkpoint.size
        case .size(let wanted):
            guard wanted <= checkpoint.size else {
                throw LedgerFault(
                    .unknownSequence,
                    "the archive holds \(checkpoint.size) events only"
                )
            }
            size = wanted
        case .recorded(let instant): size = try sizeRecorded(by: instant.milliseconds)
        }
        let last = size == 0 ? nil : try recordedAt(size - 1)
        return try Plan(
            archived: checkpoint.size,
            restored: size,
            lastRecordedAt: last.map { Instant(milliseconds: $0) },
            published: published(beyond: size)?.description,
            loss: reader.loss()?.restored(size, of: checkpoint.size)
        )
    }

    /// The checkpoint that a log of a size lacks events of; the archived log may be one that lacked
    /// some itself, which reached farther than its archive does.
    private func published(beyond size: UInt64) throws -> SignedNote? {
        guard let earlier = try reader.published(),
            try ArchiveReader.verified(earlier, by: key).size > checkpoint.size
        else { return size < checkpoint.size ? note : nil }
        return earlier
    }

    /// Law 2: recorded time never goes back, so what was known at an instant is a prefix.
    private func sizeRecorded(by instant: Int64) throws -> UInt64 {
        var (known, unknown) = (UInt64(0), checkpoint.size)
        while known < unknown {
            let middle = known + (unknown - known) / 2
            if try recordedAt(middle) <= instant { known = middle + 1 } else { unknown = middle }
        }
        return known
    }

    private func recordedAt(_ sequence: UInt64) throws -> Int64 {
        let index = sequence / Bundle.recordCount
        let place = Int(sequence % Bundle.recordCount)
        guard let records = try reader.records(ofBundle: index), place < records.count else {
            throw ArchiveFault(.damaged, "the records are missing", sequence: sequence)
        }
        let record = records[place]
        if let lost = LostRecord(record.span) { return lost.recordedAt }
        return try RecordHeader(checking: record.span).recordedAt
    }

    // MARK: Copying

    /// Writes the planned part of the archive into an empty log, with its evidence and checkpoints.
    ///
    /// Reads the whole archive: what stands beyond the cut is held against the checkpoint too, and
    /// its erasures count.
    ///
    /// `isContinued`: whether the log goes on under another name, which signed none of its checkpoints.
    ///
    /// - Returns: the streams that any erasure in the archive names.
    /// - Throws: `ArchiveFault.damaged` where the archive is not what its checkpoint says; what
    ///   reader and log throw.
    package func run(
        _ plan: Plan,
        into log: any LogStorage,
        isContinued: Bool = false,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> Set<UInt64> {
        var copy = try RecordCopy(into: log)
        precondition(copy.next == 0, "a log is restored where there is none")
        var tree = TreeEdge()
        var erased: Set<UInt64> = []
        var deleted: [UInt64] = []
        while tree.size < checkpoint.size {
            let index = tree.size / Bundle.recordCount
            let width = TileCoordinate.width(level: 0, index: index, size: checkpoint.size)
            let attachedOfBundle =
                tree.size < plan.restored ? try reader.attached(ofBundle: index) : [:]
            guard let records = try reader.records(ofBundle: index), records.count >= width else {
                throw ArchiveFault(.damaged, "the records are missing", sequence: tree.size)
            }
            for record in records.prefix(width) {
                let leaf = TreeHash.leaf(ofEntry: record.span)
                defer { tree.append(leaf) }
                guard !LostRecord.isOne(record.span) else {
                    if tree.size < plan.restored { try copy.append(record) }
                    continue
                }
                let header = try RecordHeader(checking: record.span)
                if tree.size < plan.restored {
                    try add(record, header, attachedOfBundle, plan, to: &copy)
                }
                if try header.eventKind() == .customerErased {
                    let others = try header.otherStreams(record.span)
                    erased.formUnion([header.stream] + others)
                    deleted += try header.deletedEvidence(record.span)
                }
            }
            progress(tree.size, checkpoint.size)
        }
        guard tree.root == checkpoint.root else {
            throw ArchiveFault(.damaged, "the records do not give the root of the checkpoint")
        }
        let size = try copy.finish().size
        // The archive may be one that no erasure reached.
        try log.eraseEvidence(of: deleted.filter { $0 < size })
        if !isContinued { try keepCheckpoints(upTo: size, in: log) }
        return erased
    }

    private func add(
        _ record: [UInt8],
        _ header: RecordHeader,
        _ attachedOfBundle: [EventLog.Digest: [UInt8]],
        _ plan: Plan,
        to copy: inout RecordCopy
    ) throws {
        // What was lost for good comes back from no archive: the new ledger says so as the old one did.
        let lacksAttached = (plan.loss?.attached ?? 0) > 0
        var attached: [UInt8]?
        if header.attached != .none, header.attachedAt == header.sequence {
            attached = header.attachedDigest.flatMap { attachedOfBundle[$0] }
            guard attached != nil || lacksAttached else {
                throw ArchiveFault(
                    .damaged,
                    "what the record carries is missing or altered",
                    sequence: header.sequence
                )
            }
        }
        try copy.append(record, attached: attached) { digest in
            let part = try reader.sharedPart(digest)
            guard part != nil || lacksAttached else {
                throw ArchiveFault(
                    .damaged,
                    "a shared part of evidence is missing",
                    sequence: header.sequence
                )
            }
            return part
        }
    }

    private func keepCheckpoints(upTo size: UInt64, in log: any LogStorage) throws {
        for kept in try reader.checkpointSizes() where kept <= size {
            guard let note = try reader.note(size: kept) else { continue }
            _ = try note.verified(by: [key])
            try log.keepCheckpoint(size: kept, note: note.description)
        }
    }
}
