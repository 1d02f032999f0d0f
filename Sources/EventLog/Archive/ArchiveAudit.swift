/// Checks an archive as a stranger would: every file against the tree, the tree against the signed
/// checkpoint, and, where the log is at hand, the archive against the log.
///
/// Memory: one bundle and what it carries.
public struct ArchiveAudit {
    /// One thing that is wrong.
    public struct Finding: Sendable, Hashable {
        /// The record concerned, if it is one.
        public var sequence: UInt64?
        /// A sentence; holds no id and no path of the machine.
        public var detail: String
    }

    /// What is wrong, in the order in which it was found; at most ``findingLimit``.
    public private(set) var findings: [Finding] = []
    /// How many records the archive's checkpoint promises.
    public private(set) var size: UInt64 = 0
    /// Signed checkpoints that were checked.
    public private(set) var checkpoints = 0
    /// Records that a salvage could not bring back, of which only the leaf hashes are there, and those
    /// without what they carried, or a part of it, which the log at hand lacks as well.
    public private(set) var gaps: UInt64 = 0

    /// Findings that are listed.
    package static let findingLimit = 1000

    private let reader: ArchiveReader
    private let key: VerifierKey
    private var checkedParts: Set<Digest> = []
    /// The log that it is a copy of; nil: it is not at hand.
    private var log: (any LogReader)?
    /// The log at hand, where the archive says that a salvage lost what records of it carried.
    private var lacking: (any LogReader)?
    private var tree = TileWriter()

    /// Checks what a reader reads.
    ///
    /// `key`: verifies the log's checkpoints.
    package init(_ reader: ArchiveReader, key: VerifierKey) {
        self.reader = reader
        self.key = key
    }

    /// Reads the whole archive.
    ///
    /// `log`: the log that it is a copy of; nil where only the archive is at hand.
    package mutating func run(
        against log: (any LogReader)? = nil,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) {
        guard let checkpoint = noting({ [reader, key] in try reader.checkpoint(by: key) }) else {
            return
        }
        size = checkpoint.size
        checkpoints += 1
        self.log = log
        if let log { checkPrefix(checkpoint, of: log) }
        let loss = noting { [reader] in try reader.loss() } ?? nil
        if let loss, loss.attached > 0 { lacking = log }
        _ = noting { [reader, key] in
            try reader.published().map { try ArchiveReader.verified($0, by: key) }
        }
        let count = checkpoint.size / Bundle.recordCount
        for index in 0..<count + (checkpoint.size.isMultiple(of: Bundle.recordCount) ? 0 : 1) {
            guard checkBundle(index) else { return }
            progress(tree.edge.size, size)
        }
        checkTiles(tree.partialTiles)
        // A log that was salvaged is archived as it is; to a stranger the record is missing.
        if gaps > 0, log == nil { note(nil, "\(gaps) records are lost") }
        if tree.edge.root != checkpoint.root {
            note(nil, "the records do not give the root of the checkpoint")
        }
        checkOlderCheckpoints()
    }

    // MARK: Parts

    private mutating func checkPrefix(_ checkpoint: Checkpoint, of log: any LogReader) {
        let isPrefix = noting {
            try checkpoint.size <= log.end().size
                && TreeReader(LogTiles(log)).root(size: checkpoint.size) == checkpoint.root
        }
        if isPrefix == false { note(nil, "the archive holds another history than the log") }
    }

    /// Whether the bundle could be read; nothing behind it can be placed in the tree otherwise.
    private mutating func checkBundle(_ index: UInt64) -> Bool {
        let width = TileCoordinate.width(level: 0, index: index, size: size)
        let first = index * Bundle.recordCount
        guard
            let records = noting({ [reader] in
                try reader.records(ofBundle: index, width: width)
            }),
            let tile = noting({ [reader] in try reader.tile(level: 0, index: index) })
        else { return false }
        let attachedOfBundle = noting { [reader] in try reader.attached(ofBundle: index) } ?? [:]
        for (place, record) in records.enumerated() {
            let sequence = first + UInt64(place)
            let leaf = TreeHash.leaf(ofEntry: record.span)
            if LostRecord.isOne(record.span) { gaps += 1 }
            let offset = place * Digest.byteCount
            if tile.map({ $0.count < offset + Digest.byteCount }) ?? true {
                note(sequence, "the tile of leaves is missing or too short")
            } else if let tile, Digest(tile.span, at: offset) != leaf {
                note(sequence, "the record's hash is not its tile's")
            }
            tree.append(leaf)
            checkAttached(of: record, at: sequence, attachedOfBundle)
        }
        checkTiles(tree.takeChanges().filter { $0.coordinate.isFull && $0.coordinate.level > 0 })
        return true
    }

    private mutating func checkAttached(
        of record: [UInt8],
        at sequence: UInt64,
        _ attachedOfBundle: [Digest: [UInt8]]
    ) {
        guard let header = try? RecordHeader(reading: record.span), header.sequence == sequence,
            header.attached != .none, header.attachedAt == sequence,
            let digest = header.attachedDigest
        else { return }
        guard let attached = attachedOfBundle[digest] else {
            return noteMissing(sequence, "what the record carries is missing or altered") {
                try $0.attached(at: sequence) == nil
            }
        }
        checkDeletion(of: attached, isEvidence: header.attached == .evidence, at: sequence)
        guard header.attached == .evidence,
            let parts = noting({ try SealedEvidence.sharedParts(of: attached.span) })
        else { return }
        for part in parts where checkedParts.insert(part).inserted {
            let bytes = noting { [reader] in try reader.sharedPart(part) } ?? nil
            if !(bytes.map { AttachedBytes.isWholePart($0.span) } ?? false) {
                noteMissing(sequence, "a shared part of evidence is missing or altered") {
                    try $0.sharedPart(part) == nil
                }
            }
        }
    }

    /// Evidence is deleted where that of the log is, and nowhere else; an attachment never.
    private mutating func checkDeletion(
        of attached: [UInt8],
        isEvidence: Bool,
        at sequence: UInt64
    ) {
        let isDeleted = ErasedEvidence.digest(attached.span) != nil
        guard isEvidence else {
            if isDeleted { note(sequence, "what no erasure deletes is deleted") }
            return
        }
        // What cannot be read is noted with its shared parts.
        let seal = try? SealedEvidence.seal(of: attached.span)
        // No other is ever deleted, and the log need not be read for it.
        guard isDeleted || seal?.cover == .events, let log,
            let own = noting({ try log.attached(at: sequence) }) ?? nil,
            isDeleted != (ErasedEvidence.digest(own.span) != nil)
        else { return }
        note(
            sequence,
            isDeleted
                ? "the evidence is deleted here, and stands in the log"
                : "the evidence is deleted in the log, and stands here"
        )
    }

    /// Counts what is known to be lost of the log at hand, too, and notes what that has.
    private mutating func noteMissing(
        _ sequence: UInt64,
        _ detail: String,
        isLost: (any LogReader) throws -> Bool
    ) {
        guard let lacking, noting({ try isLost(lacking) }) == true else {
            return note(sequence, detail)
        }
        gaps += 1
    }

    private mutating func checkTiles(_ tiles: [Tile]) {
        for tile in tiles {
            let (level, index) = (tile.coordinate.level, tile.coordinate.index)
            // A wider one may stand in its place by now.
            let stored = noting { [reader] in try reader.tile(level: level, index: index) } ?? nil
            if stored?.starts(with: tile.bytes) != true {
                note(nil, "tile \(index) of level \(level) is not what its records give")
            }
        }
    }

    private mutating func checkOlderCheckpoints() {
        // A writer that was stopped leaves the next one, ahead of what it promises.
        for older in noting({ [reader] in try reader.checkpointSizes() }) ?? []
        where older <= size {
            if older < size { checkpoints += 1 }
            let isPrefix = noting { [reader, key] in
                guard let note = try reader.note(size: older) else { return false }
                let checkpoint = try ArchiveReader.verified(note, by: key)
                return try checkpoint.size == older
                    && TreeReader(reader).root(size: older) == checkpoint.root
            }
            if isPrefix == false { note(nil, "checkpoint \(older) is not of this history") }
        }
    }

    // MARK: Findings

    private mutating func note(_ sequence: UInt64?, _ detail: String) {
        guard findings.count < Self.findingLimit else { return }
        findings.append(Finding(sequence: sequence, detail: detail))
    }

    /// What a body gives, or nil and a finding.
    private mutating func noting<Value>(_ body: () throws -> Value) -> Value? {
        do {
            return try body()
        } catch let fault as ArchiveFault {
            note(fault.sequence, fault.message)
        } catch let fault as DecodingFault {
            note(nil, fault.what)
        } catch let fault as LogStorageFault {
            note(nil, fault.message)
        } catch {
            note(nil, "a file cannot be read")
        }
        return nil
    }
}
