package import EventLog

/// Puts a log together again from what is left of it and from second copies: which bytes a signed
/// root proves (row 3.6, row Z5).
///
/// It knows hashes and signed sizes, and no file: what it is given it believes only where the tree
/// says so.
package struct LogSalvage: Sendable {
    let original: any DamagedOriginal
    let copies: [any DamagedSource]
    let end: SalvagedEnd
    let witness: HashWitness
    private let rules: SalvageRules
    private var sharedParts: [Digest: [UInt8]] = [:]
    private var keptParts: Set<Digest> = []
    private(set) var report = SalvageReport()
    /// Whether the tree that the log has is one that an earlier salvage made.
    private let isTreeLost: Bool
    private let isKnown: @Sendable (UInt64) -> Bool
    /// The streams that its records name and that have no key any more.
    package private(set) var keyless: Set<UInt64> = []
    /// The streams that its records erase.
    package private(set) var erased: Set<UInt64> = []
    /// The records whose evidence others of them say to be deleted.
    package private(set) var deletedEvidence: [UInt64] = []
    private var lastRecordedAt = Int64.min
    /// The first event of the signal whose evidence was last looked at.
    private var lastAttachedAt: UInt64?
    private var highestCounter: UInt64 = 0
    private var edge = TreeEdge()
    private var signed: SignedSizes
    /// Places that were handed out, gaps at the end apart.
    private var writtenSize: UInt64 = 0

    /// Bundles that are put together at once.
    private static let batch: UInt64 = 16
    /// Shared parts that are held.
    private static let sharedPartLimit = 10_000
    /// Bytes of evidences and attachments that are held before they are written.
    private static let batchByteLimit = 16 << 20

    /// Finds the log's end and the hashes of its bundles.
    ///
    /// `copies`: from which gaps are filled, in the order in which they are asked. `closedSize`: of
    /// the log when it was last closed; 0 where nothing says. `signed`: checkpoints whose signature
    /// holds, ascending, each size once. `earlier`: what an earlier salvage of the same ledger lost;
    /// nil: there was none. `isKnown`: whether a stream has its key, or a tombstone.
    ///
    /// - Throws: what a source throws.
    ///
    /// Cost: reads the tiles above the leaves, and the shared parts of all sources.
    package init(
        _ original: any DamagedOriginal,
        copies: [any DamagedSource],
        closedSize: UInt64,
        signed: [Checkpoint],
        earlier: KnownLoss?,
        rules: SalvageRules,
        isKnown: @escaping @Sendable (_ stream: UInt64) -> Bool
    ) throws {
        self.original = original
        self.copies = copies
        self.signed = SignedSizes(signed)
        self.isKnown = isKnown
        isTreeLost = earlier?.isTreeLost ?? false
        self.rules = rules
        end = try SalvagedEnd(
            of: original,
            copies: copies,
            closedSize: closedSize,
            signed: signed,
            earlier: earlier
        )
        witness = try HashWitness(
            Self.all(original, copies),
            edge: end.stated?.edge,
            size: end.size
        )
        for source in Self.all(original, copies) {
            try source.sharedParts { takeSharedPart($0) }
        }
        report.size = end.size
    }

    /// What is left of the log itself first.
    private static func all(
        _ original: any DamagedOriginal,
        _ copies: [any DamagedSource]
    ) -> [any DamagedSource] {
        var sources: [any DamagedSource] = [original]
        sources += copies
        return sources
    }

    /// Parts are few: chains of certificates that many evidences have in common.
    private mutating func takeSharedPart(_ bytes: [UInt8]) {
        guard sharedParts.count < Self.sharedPartLimit,
            let digest = rules.sharedPartDigest(bytes)
        else { return }
        sharedParts[digest] = bytes
    }

    /// Hands out the log from its beginning on, as batches for a new one, and reports.
    ///
    /// Bundles are put together on all cores; memory holds some of them.
    ///
    /// `progress`: is told records done and records in all.
    ///
    /// - Throws: what a source or `body` throws.
    package mutating func run(
        progress: (UInt64, UInt64) -> Void,
        _ body: (LogBatch) throws -> Void
    ) throws -> SalvageReport {
        var next: UInt64 = 0
        while next < end.foundSize {
            let upper = min(next + Self.batch * Bundle.recordCount, end.foundSize)
            var batch = newBatch
            for bundle in try settle(next..<upper) {
                try take(bundle, into: &batch)
                guard batch.attached.reduce(0, { $0 + $1.bytes.count }) > Self.batchByteLimit
                else { continue }
                try hand(&batch, to: body)
            }
            if upper == end.foundSize { dropLostEnd(&batch) }
            try hand(&batch, to: body)
            next = upper
            progress(next, end.size)
        }
        if end.size > writtenSize {
            let cause = original.endClues.isCut ? LostRecord.Cause.truncated : .missing
            report.note(gap: writtenSize..<end.size, cause, pages: nil)
            report.isProven = false
        }
        conclude()
        signed.conclude(&report)
        return report
    }

    private var newBatch: LogBatch {
        LogBatch(after: LogEnd(edge: edge, lastRecordedAt: lastRecordedAt, highestCounter: 0))
    }

    private func hand(_ batch: inout LogBatch, to body: (LogBatch) throws -> Void) throws {
        batch.lastRecordedAt = lastRecordedAt
        batch.highestCounter = highestCounter
        if !batch.records.isEmpty { try body(batch) }
        batch = newBatch
    }

    /// What confirms everything at once: the stated end's edge.
    private mutating func conclude() {
        // What nobody signed confirms nothing.
        if isTreeLost {
            report.isProven = false
        } else if let stated = end.stated, stated.size == end.size {
            if edge == stated.edge {
                report.confirmed = report.records
                report.unconfirmed = []
            } else {
                report.isProven = false
            }
        } else if end.stated != nil {
            report.isProven = report.isProven && report.unconfirmed.isEmpty
        }
    }

    /// A gap at the end, whose hash is lost too, needs no place.
    private mutating func dropLostEnd(_ batch: inout LogBatch) {
        while let last = batch.records.last, let gap = LostRecord(last.span), gap.leaf == nil {
            batch.records.removeLast()
            batch.leaves.removeLast()
            writtenSize -= 1
            report.dropGap(atEnd: writtenSize)
        }
    }

    // MARK: Joining

    private mutating func take(_ bundle: Settled, into batch: inout LogBatch) throws {
        for (index, finding) in bundle.places.enumerated() {
            let sequence = bundle.first + UInt64(index)
            switch finding {
            case .record(let record, let isConfirmed):
                try take(record, sequence, isConfirmed: isConfirmed, into: &batch)
            case .gap(let cause, let leaf, let pages):
                report.note(gapAt: sequence, cause, pages: pages)
                report.lostWithin += 1
                if leaf == nil { report.isProven = false }
                let gap = LostRecord(
                    sequence: sequence,
                    recordedAt: lastRecordedAt,
                    cause: cause,
                    leaf: leaf
                )
                let bytes = gap.bytes
                append(bytes, TreeHash.leaf(ofEntry: bytes.span), &batch)
            }
        }
    }

    private mutating func append(
        _ entry: [UInt8],
        _ leaf: Digest,
        _ batch: inout LogBatch
    ) {
        batch.records.append(entry)
        batch.leaves.append(leaf)
        edge.append(leaf)
        signed.compare(edge)
        writtenSize = edge.size
    }

    private mutating func take(
        _ record: PlaceFinding.Candidate,
        _ sequence: UInt64,
        isConfirmed: Bool,
        into batch: inout LogBatch
    ) throws {
        let header = try RecordHeader(reading: record.bytes.span)
        append(record.bytes, record.leaf, &batch)
        report.records += 1
        if isConfirmed { report.confirmed += 1 } else { report.note(unconfirmed: sequence) }
        if record.isSupplied { report.refilled += 1 }
        lastRecordedAt = header.recordedAt
        for stream in rules.namedStreams(record.bytes) where stream != StreamNumber.catalog {
            highestCounter = max(highestCounter, StreamNumber.counter(of: stream))
            if !isKnown(stream) { keyless.insert(stream) }
        }
        erased.formUnion(rules.erasedStreams(record.bytes))
        deletedEvidence += rules.deletedEvidence(record.bytes)
        guard header.attached != .none, let digest = header.attachedDigest else { return }
        // The events of one signal stand one after the other (E2).
        let isFirst = header.attachedAt != lastAttachedAt
        lastAttachedAt = header.attachedAt
        guard header.attachedAt == sequence else {
            // Evidence goes with the first event of its signal, and is lost with it.
            if isFirst { report.lostAttached.append(sequence) }
            return
        }
        guard let attached = try attached(digest, bundle: sequence / Bundle.recordCount) else {
            report.lostAttached.append(sequence)
            return
        }
        report.attached += 1
        batch.attached.append((sequence, attached))
        if header.attached == .evidence, !takeSharedParts(of: attached, into: &batch) {
            report.lostAttached.append(sequence)
        }
    }

    private func attached(_ digest: Digest, bundle: UInt64) throws -> [UInt8]? {
        for source in Self.all(original, copies) {
            if let attached = try source.attached(digest, ofBundle: bundle),
                AttachedBytes.digest(of: attached.span) == digest
            {
                return attached
            }
        }
        return nil
    }

    /// Whether all are there: evidence that lacks one stays, and opens no more.
    private mutating func takeSharedParts(of attached: [UInt8], into batch: inout LogBatch) -> Bool
    {
        var isWhole = true
        // What names no parts stays as it is, and an audit names it.
        for digest in (try? SealedEvidence.sharedParts(of: attached.span)) ?? []
        where !keptParts.contains(digest) {
            guard let part = sharedParts[digest] else {
                isWhole = false
                continue
            }
            keptParts.insert(digest)
            batch.sharedParts.append((digest, part))
        }
        return isWhole
    }
}
