import Crypto
import Entitlements
import EventLog

extension Ledger {
    /// Checks everything against its hashes and the views against the log; writes nothing.
    ///
    /// Cost: two passes over the log; memory does not grow with it.
    public func audit(
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> AuditReport {
        let end = try log.end()
        var auditor = Auditor(ledger: self, end: end)
        auditor.checkRecords(progress)
        auditor.checkCheckpoints()
        auditor.checkViews()
        return auditor.report
    }

    /// The signer of this ledger's checkpoints.
    var signer: NoteSigner {
        get throws { try NoteSigner(name: identity.origin, privateKey: vault.checkpointKey) }
    }
}

/// Reads a log from its start and notes what is wrong.
private struct Auditor {
    let ledger: Ledger
    let end: LogEnd
    var report = AuditReport()
    private var tree = TreeEdge()
    private var lastRecordedAt = Int64.min
    /// Shared parts of evidence that were looked at: one that is wrong is noted once.
    private var checkedParts: Set<EventLog.Digest> = []

    init(ledger: Ledger, end: LogEnd) {
        self.ledger = ledger
        self.end = end
        report.treeSize = end.size
    }

    // MARK: Records and tree

    mutating func checkRecords(_ progress: (UInt64, UInt64) -> Void) {
        var next: UInt64 = 0
        do {
            try ledger.log.readBlocks(from: 0, upTo: end.size) { first, block in
                let count = try Bundle.count(block)
                // A tile that cannot be read is noted record by record.
                let tile = try? ledger.log.tile(level: 0, index: first / Bundle.recordCount)
                for index in 0..<count where first + UInt64(index) < end.size {
                    let range = try Bundle.range(of: index, count: count, in: block)
                    check(block.extracting(range), at: first + UInt64(index), tile ?? [])
                    next = first + UInt64(index) + 1
                }
                if first / Bundle.recordCount % 256 == 0 { progress(next, end.size) }
                return true
            }
        } catch {
            report.note(.record, next, "the log cannot be read on: \(Self.sentence(error))")
        }
        report.records = next
        report.rootHash = tree.root.base64
        if next == end.size && tree != end.edge {
            report.note(.tree, nil, "the records do not give the root that the log states")
        }
        if end.size > 0 && lastRecordedAt != end.lastRecordedAt && next == end.size {
            report.note(.order, nil, "the log's end states another recorded time")
        }
    }

    private mutating func check(_ record: Span<UInt8>, at sequence: UInt64, _ tile: [UInt8]) {
        let leaf = TreeHash.leaf(record)
        tree.append(leaf)
        let place = Int(sequence % Bundle.recordCount) * EventLog.Digest.byteCount
        if place + EventLog.Digest.byteCount > tile.count {
            report.note(.tree, sequence, "the tree's tile is missing or too short")
        } else if EventLog.Digest(tile.span, at: place) != leaf {
            report.note(.tree, sequence, "the record's hash is not the tree's")
        }
        do {
            let header = try RecordHeader(checking: record)
            if header.sequence != sequence {
                report.note(.order, sequence, "the record states sequence \(header.sequence)")
            }
            if header.recordedAt < lastRecordedAt {
                report.note(.order, sequence, "recorded time goes back")
            }
            lastRecordedAt = header.recordedAt
            try checkCompanion(header)
            try checkVault(header, record)
        } catch {
            report.note(.record, sequence, Self.sentence(error))
        }
    }

    private mutating func checkCompanion(_ header: RecordHeader) throws {
        guard header.companion != .none, header.carrier == header.sequence else { return }
        guard let blob = try ledger.log.companion(of: header.carrier) else {
            report.note(.evidence, header.sequence, "the evidence is missing")
            return
        }
        if TreeHash.companion(blob.span) != header.companionDigest {
            report.note(.evidence, header.sequence, "the evidence is not what was recorded")
        } else if header.companion == .evidence {
            try checkSharedParts(EvidenceBlob.sharedParts(of: blob.span), header.sequence)
        }
    }

    private mutating func checkSharedParts(
        _ digests: [EventLog.Digest],
        _ sequence: UInt64
    ) throws {
        for digest in digests where checkedParts.insert(digest).inserted {
            do {
                _ = try ledger.sharedPart(digest)
            } catch let fault as LogStorageFault {
                report.note(.evidence, sequence, fault.message)
            }
        }
    }

    private mutating func checkVault(_ header: RecordHeader, _ record: Span<UInt8>) throws {
        guard header.stream != StreamNumber.catalog else { return }
        do {
            guard let keys = try ledger.vault.keys(of: header.stream) else {
                report.note(.vault, header.sequence, "the stream has neither key nor tombstone")
                return
            }
            _ = try header.identity(of: record, keys: keys)
        } catch is SealingFault {
            report.note(.vault, header.sequence, "the sealed part does not open")
        }
    }

    // MARK: Checkpoints

    mutating func checkCheckpoints() {
        do {
            let key = try ledger.signer.verifierKey
            for (size, note) in try ledger.log.checkpoints() {
                report.checkpoints += 1
                let verified = try SignedNote.parse(note).verified(by: [key])
                let checkpoint = try Checkpoint(verified)
                if checkpoint.size != size || size > end.size {
                    report.note(.checkpoint, nil, "the log is shorter than its checkpoint \(size)")
                } else if size > 0,
                    try TreeReader(LogTiles(ledger.log)).root(size: size) != checkpoint.root
                {
                    report.note(.checkpoint, nil, "checkpoint \(size) has another root")
                }
            }
        } catch {
            report.note(.checkpoint, nil, Self.sentence(error))
        }
    }

    // MARK: Views

    mutating func checkViews() {
        if let reason = ledger.views.discarded { report.note(.view, nil, reason + ": not used") }
        do {
            for difference in try ledger.viewDifferences() {
                report.note(.view, difference.sequence, difference.detail)
            }
        } catch {
            report.note(.view, nil, Self.sentence(error))
        }
    }

    private static func sentence(_ error: any Error) -> String {
        switch error {
        case let fault as DecodingFault: fault.what
        case let fault as LogStorageFault: fault.message
        case let fault as NoteFault: fault.message
        default: "it cannot be read"
        }
    }
}
