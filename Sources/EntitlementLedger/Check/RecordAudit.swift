import Entitlements
import EventLog
import LedgerAPI
import PostingIndex

/// Reads a part of the log that begins with a bundle and notes what is wrong with its records.
///
/// Parts know nothing of one another, so that they can be read at once; `AuditAnswer` joins them.
struct RecordAudit: Sendable {
    /// The records to be read.
    let sequences: Range<UInt64>
    /// Whether evidence and sealed parts are opened, and checksums compared.
    let opensSealed: Bool

    /// What is wrong.
    private(set) var faults: [AuditFault] = []
    /// The sequence behind the last record that was read.
    private(set) var end: UInt64
    /// Roots of the bundles that were read whole.
    private(set) var bundleRoots: [EventLog.Digest] = []
    /// The tree of the bundle that is not full.
    private(set) var tail = TreeEdge()
    /// Recorded time of the first record whose header can be read.
    private(set) var firstRecordedAt: Int64?
    /// Recorded time of the last such record.
    private(set) var lastRecordedAt = Int64.min
    /// Counters of the streams that its records name.
    private(set) var streams = CounterSet()
    private var highestCounter: UInt64 = 0
    /// Evidence in whose place stands that it was deleted, and evidence that the log says to be.
    private(set) var deletedEvidence: (standing: Set<UInt64>, stated: Set<UInt64>) = ([], [])
    /// Shared parts of evidence that were looked at: one that is wrong is noted once.
    private var checkedParts: Set<EventLog.Digest> = []
    /// The first event of the signal whose evidence was last looked at.
    private var lastAttachedAt: UInt64?

    /// Bundles of one part: as many as a tile of the level above theirs has hashes.
    static let bundlesPerPart = UInt64(TileCoordinate.fullWidth)

    init(of sequences: Range<UInt64>, opensSealed: Bool) {
        self.sequences = sequences
        self.opensSealed = opensSealed
        end = sequences.lowerBound
    }

    /// Whether all records were there.
    var isWhole: Bool { end == sequences.upperBound }

    /// Reads the part.
    mutating func run(_ questions: Questions) {
        do {
            highestCounter = try questions.log.end().highestCounter
            try questions.log.readBlocks(from: end, upTo: sequences.upperBound) { first, block in
                // Whoever asked for the part sees for themselves that nobody waits for it.
                try questions.walkEnd.check()
                let count = try Bundle.count(block)
                // A tile that cannot be read is noted record by record.
                let tile = try? questions.log.tile(level: 0, index: first / Bundle.recordCount)
                for index in 0..<count where first + UInt64(index) < sequences.upperBound {
                    let range = try Bundle.range(of: index, count: count, in: block)
                    check(block.extracting(range), at: first + UInt64(index), tile ?? [], questions)
                    end = first + UInt64(index) + 1
                }
                return true
            }
        } catch {
            faults.note(.record, end, "the log cannot be read on: \(error.auditSentence)")
        }
    }

    private mutating func check(
        _ record: Span<UInt8>,
        at sequence: UInt64,
        _ tile: [UInt8],
        _ questions: Questions
    ) {
        checkHash(TreeHash.leaf(ofEntry: record), at: sequence, tile)
        if LostRecord.isOne(record) { return checkGap(LostRecord(record), at: sequence) }
        do {
            // The hash says more of the bytes than their checksum, which is a writer's affair.
            let header =
                try opensSealed
                ? RecordHeader(checking: record) : RecordHeader(reading: record)
            if header.sequence != sequence {
                faults.note(.order, sequence, "the record states sequence \(header.sequence)")
            }
            if header.recordedAt < lastRecordedAt {
                faults.note(.order, sequence, "recorded time goes back")
            }
            if firstRecordedAt == nil { firstRecordedAt = header.recordedAt }
            lastRecordedAt = header.recordedAt
            if opensSealed {
                for stream in try [header.stream] + header.otherStreams(record) {
                    streams.insert(StreamNumber.counter(of: stream), upTo: highestCounter)
                }
                try checkAttached(header, questions)
                checkSealedPart(header, record, questions)
            }
        } catch {
            faults.note(.record, sequence, error.auditSentence)
        }
    }

    /// A gap that a salvage left is a known loss, and a fault for all that.
    private mutating func checkGap(_ gap: LostRecord?, at sequence: UInt64) {
        guard let gap, gap.sequence == sequence else {
            return faults.note(.record, sequence, "what stands for a lost record is not whole")
        }
        let detail = "the record is lost: \(gap.cause.sentence)"
        faults.note(.record, sequence, detail, isKnown: true)
    }

    /// Compares a leaf with its tile; the leaf that fills a bundle gives the bundle's root.
    private mutating func checkHash(
        _ leaf: EventLog.Digest,
        at sequence: UInt64,
        _ tile: [UInt8]
    ) {
        let place = Int(sequence % Bundle.recordCount) * EventLog.Digest.byteCount
        if place + EventLog.Digest.byteCount > tile.count {
            faults.note(.tree, sequence, "the tree's tile is missing or too short")
        } else if EventLog.Digest(tile.span, at: place) != leaf {
            faults.note(.tree, sequence, "the record's hash is not the tree's")
        }
        tail.append(leaf)
        if tail.size == Bundle.recordCount {
            bundleRoots.append(tail.root)
            tail = TreeEdge()
        }
    }

    private mutating func checkAttached(_ header: RecordHeader, _ questions: Questions) throws {
        // The events of one signal stand one after the other (E2), and it goes with the first, whose part looks at it.
        guard header.attached != .none, header.attachedAt != lastAttachedAt,
            header.attachedAt >= sequences.lowerBound
        else { return }
        lastAttachedAt = header.attachedAt
        guard let attached = try questions.log.attached(at: header.attachedAt) else {
            faults.note(.evidence, header.sequence, "the evidence is missing")
            return
        }
        if AttachedBytes.digest(of: attached.span) != header.attachedDigest {
            faults.note(.evidence, header.sequence, "the evidence is not what was recorded")
        } else if ErasedEvidence.digest(attached.span) != nil {
            deletedEvidence.standing.insert(header.attachedAt)
        } else if header.attached == .evidence {
            let parts = try SealedEvidence.sharedParts(of: attached.span)
            for digest in parts where checkedParts.insert(digest).inserted {
                do {
                    _ = try questions.sharedPart(digest)
                } catch let fault as LogStorageFault {
                    faults.note(.evidence, header.sequence, fault.message)
                }
            }
        }
    }

    private mutating func checkSealedPart(
        _ header: RecordHeader,
        _ record: Span<UInt8>,
        _ questions: Questions
    ) {
        guard header.stream != StreamNumber.catalog else { return }
        do {
            if header.kind == EventKind.customerErased.rawValue {
                try checkErasure(header, record, questions)
            }
            guard let keys = try questions.vault.keys(of: header.stream) else {
                // Z6: an erased stream is no loss.
                if try questions.vault.isErased(header.stream) { return }
                faults.note(
                    .vault,
                    header.sequence,
                    "the stream has neither key nor tombstone"
                )
                return
            }
            if header.identity(of: record, keys: keys) == nil {
                faults.note(.vault, header.sequence, "the sealed part does not open")
            }
        } catch {
            faults.note(.vault, header.sequence, error.auditSentence)
        }
    }

    /// What the log says to be gone, no vault may hold: an older copy of it, say.
    private mutating func checkErasure(
        _ header: RecordHeader,
        _ record: Span<UInt8>,
        _ questions: Questions
    ) throws {
        deletedEvidence.stated.formUnion(try header.deletedEvidence(record))
        for stream in try header.indexEntry(record).streams
        where try !questions.vault.isErased(stream) {
            let detail = "stream \(stream) is erased by the log, and the vault has its key"
            faults.note(.vault, header.sequence, detail)
        }
    }
}

extension LostRecord.Cause {
    /// What became of the record, in words.
    package var sentence: String {
        switch self {
        case .missing: "nothing of it was found"
        case .checksum: "its checksum did not hold"
        case .zeroed: "its place was full of zeros"
        case .truncated: "the file ended before it"
        case .overwritten: "its place held something else"
        case .altered: "its bytes were not those that the tree names"
        case .ambiguous: "several records claimed its place"
        }
    }
}

extension Error {
    /// What an audit says of a fault; holds no path and no id.
    var auditSentence: String {
        switch self {
        case let fault as DecodingFault: fault.what
        case let fault as LogStorageFault: fault.message
        case let fault as NoteFault: fault.message
        case let damage as ViewDamage: damage.what
        default: "it cannot be read"
        }
    }
}
