import Entitlements
public import EventLog
public import LedgerAPI
import PostingIndex

extension Auditor {
    /// Checks the log against its hashes and the views against the log; writes nothing.
    ///
    /// `archive`: a copy of the log that is checked too, but for `quick`; nil: there is none.
    ///
    /// Cost: for `everything` and `hashes` one pass over the log on all cores, for `everything`
    /// another one for the views; memory does not grow with the log.
    ///
    /// - Throws: what the log throws before it is read; `CancellationError` where walks over the log are ended.
    public func audit(
        _ scope: AuditScope = .everything,
        archive: (any ArchiveStore)? = nil,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> AuditAnswer {
        var audit = LogAudit(self, end: try questions.log.end(), scope)
        audit.noteKnownLoss()
        if scope == .quick {
            audit.checkLastRecords()
        } else {
            try audit.checkRecords(progress)
        }
        audit.checkCheckpoints()
        if scope != .hashes { audit.checkVault() }
        if scope == .everything { audit.checkDeletedEvidence() }
        if scope == .everything { audit.checkIdentifiers() }
        try questions.walkEnd.check()
        audit.checkViews()
        if scope == .everything { audit.checkRollUps() }
        if let archive, scope != .quick { audit.checkArchive(archive, progress) }
        // What was cut off is noted as a fault like what cannot be read: nobody is told of it.
        try questions.walkEnd.check()
        return audit.report
    }
}

/// Joins what the parts of an audit found.
private struct LogAudit {
    let auditor: Auditor
    let log: any LogReader
    let end: LogEnd
    let scope: AuditScope
    var report = AuditAnswer()
    /// The tree whose leaves are the roots of the bundles: its tiles are those of the log's tree, a
    /// level higher.
    private var bundles = TileWriter()
    private var tail = TreeEdge()
    private var lastRecordedAt = Int64.min
    private var streams = CounterSet()
    private var deletedEvidence: (standing: Set<UInt64>, stated: Set<UInt64>) = ([], [])

    /// Records that a quick audit reads at the log's end: those of the largest commit.
    private static let quickRecords = UInt64(LogWriter.groupLimit)
    /// Checkpoints that a quick audit reads, from the last.
    private static let quickCheckpoints = 16

    init(_ auditor: Auditor, end: LogEnd, _ scope: AuditScope) {
        self.auditor = auditor
        log = auditor.questions.log
        self.end = end
        self.scope = scope
        report.treeSize = end.size
    }

    /// What a salvage could not bring back and the log does not show.
    mutating func noteKnownLoss() {
        guard let loss = auditor.questions.knownLoss else { return }
        func note(_ kind: AuditFault.Kind, _ detail: String) {
            report.faults.note(kind, nil, detail, isKnown: true)
        }
        if loss.isTreeLost { note(.tree, "a salvage could not bring the signed tree back") }
        if loss.unconfirmed > 0 {
            note(.record, "\(loss.unconfirmed) records are confirmed by no hash of the signed tree")
        }
        if loss.behindEnd > 0 {
            note(.record, "\(loss.behindEnd) records at the end are lost")
        }
        if loss.streams > 0 {
            note(.vault, "the names and keys of \(loss.streams) streams are lost")
        }
    }

    // MARK: Records and tree

    /// Reads all records: each core takes one part, and what they found is joined in order.
    ///
    /// - Throws: `CancellationError` where walks over the log are ended.
    mutating func checkRecords(_ progress: (UInt64, UInt64) -> Void) throws {
        let partSize = RecordAudit.bundlesPerPart * Bundle.recordCount
        var isWhole = true
        var next: UInt64 = 0
        while next < end.size {
            var parts: [RecordAudit] = []
            while parts.count < Concurrently.width, next < end.size {
                let upper = min(next + partSize, end.size)
                parts.append(RecordAudit(of: next..<upper, opensSealed: scope == .everything))
                next = upper
            }
            let read = Concurrently.map(parts.count) { [parts, auditor] number in
                var part = parts[number]
                part.run(auditor.questions)
                return part
            }
            try auditor.questions.walkEnd.check()
            for part in read { join(part, isWhole: &isWhole) }
            progress(next, end.size)
        }
        guard isWhole else { return }
        let edge = TreeEdge(
            of: bundles.edge,
            height: Bundle.recordCount.trailingZeroBitCount,
            followedBy: tail
        )
        report.rootHash = edge.root.base64
        if edge != end.edge {
            report.faults.note(.tree, nil, "the records do not give the root that the log states")
        }
        checkLastRecordedTime()
    }

    /// The tree ends with the first part that could not be read on.
    private mutating func join(_ part: RecordAudit, isWhole: inout Bool) {
        noteRecords(of: part)
        if isWhole {
            for root in part.bundleRoots { bundles.append(root) }
            checkTiles(bundles.takeChanges())
            tail = part.tail
        }
        isWhole = isWhole && part.isWhole
    }

    private mutating func noteRecords(of part: RecordAudit) {
        streams.formUnion(part.streams)
        deletedEvidence.standing.formUnion(part.deletedEvidence.standing)
        deletedEvidence.stated.formUnion(part.deletedEvidence.stated)
        report.records += part.end - part.sequences.lowerBound
        if let first = part.firstRecordedAt {
            if first < lastRecordedAt {
                report.faults.note(.order, part.sequences.lowerBound, "recorded time goes back")
            }
            lastRecordedAt = part.lastRecordedAt
        }
        for fault in part.faults {
            report.faults.note(
                fault.kind,
                fault.sequence,
                fault.detail,
                isKnown: fault.isKnown
            )
        }
    }

    private mutating func checkLastRecordedTime() {
        guard end.size > 0 else { return }
        if lastRecordedAt != end.lastRecordedAt {
            report.faults.note(.order, nil, "the log's end states another recorded time")
        }
        // What cannot be read is told where the records are.
        if let own = end.lastOwnRecordedAt, (try? isRecorded(at: own)) == false {
            report.faults.note(
                .order,
                nil,
                "the log's end states a time of its own at which nothing was recorded"
            )
        }
    }

    /// Whether an event was recorded at a time, in milliseconds since 1970.
    private func isRecorded(at time: Int64) throws -> Bool {
        let instant = Instant(milliseconds: time)
        let count = try log.size(recordedBy: instant, upTo: end.size)
        guard count > 0 else { return false }
        return try log.recordedAt(count - 1) == instant
    }

    /// Compares tiles above the leaves with those that the log holds.
    private mutating func checkTiles(_ tiles: [Tile]) {
        for tile in tiles {
            let level = tile.coordinate.level + 1
            // The log's may have grown since: what this tree has of it counts.
            let kept = try? log.tile(level: level, index: tile.coordinate.index)
            if kept?.starts(with: tile.bytes) != true {
                let place = "\(tile.coordinate.index) of level \(level)"
                report.faults.note(.tree, nil, "tile \(place) is not what its records give")
            }
        }
    }

    /// Reads the last records, and the log's end as the tiles give it.
    mutating func checkLastRecords() {
        let first = end.size - min(end.size, Self.quickRecords)
        var part = RecordAudit(
            of: first / Bundle.recordCount * Bundle.recordCount..<end.size,
            opensSealed: true
        )
        part.run(auditor.questions)
        noteRecords(of: part)
        do {
            let edge = try TreeReader(LogTiles(log)).edge(size: end.size)
            report.rootHash = edge.root.base64
            if edge != end.edge {
                report.faults.note(.tree, nil, "the tiles do not give the root that the log states")
            }
        } catch {
            report.faults.note(.tree, nil, error.auditSentence)
        }
        if part.isWhole { checkLastRecordedTime() }
    }

    /// Z6: what an erasure deleted is no loss, and nothing else may pass for it.
    mutating func checkDeletedEvidence() {
        let (standing, stated) = deletedEvidence
        report.erased = UInt64(standing.count)
        // The erasures of a log that was restored to less lie beyond its end.
        let unstated = auditor.prover.published == nil ? standing.subtracting(stated) : []
        for sequence in unstated.sorted() {
            let detail = "the evidence is deleted, and no erasure of the log says so"
            report.faults.note(.evidence, sequence, detail)
        }
        for sequence in stated.subtracting(standing).sorted() {
            let detail = "the evidence is deleted by the log, and stands"
            report.faults.note(.evidence, sequence, detail)
        }
    }

    mutating func checkVault() {
        do {
            let made = try auditor.questions.vault.check()
            // A quick audit does not see all streams that events name.
            guard scope == .everything else { return }
            // Streams that were made for events that did not come to stand: normal and harmless.
            report.orphans = made - min(made, streams.count)
        } catch {
            report.faults.note(.vault, nil, error.auditSentence)
        }
    }

    /// The vault's ids are derived from the log, as views are.
    mutating func checkIdentifiers() {
        do {
            try auditor.questions.vault.checkIdentifiers()
            // Read in this order: what was appended while the rest was checked may be read already.
            let read = try auditor.questions.vault.identifiersEnd()
            guard try read > log.end().size else { return }
            report.faults.note(.view, nil, "ids are searched beyond the log's end")
        } catch {
            report.faults.note(.view, nil, error.auditSentence)
        }
    }

    // MARK: Checkpoints

    mutating func checkCheckpoints() {
        do {
            let key = try auditor.prover.verifierKey
            let checkpoints = try log.checkpoints()
            for (size, note) in scope == .quick
                ? checkpoints.suffix(Self.quickCheckpoints) : checkpoints[...]
            {
                report.checkpoints += 1
                let verified = try SignedNote.parse(note).verified(by: [key])
                let checkpoint = try Checkpoint(verified)
                if checkpoint.size != size || size > end.size {
                    report.faults.note(
                        .checkpoint,
                        nil,
                        "the log is shorter than its checkpoint \(size)"
                    )
                } else if size > 0,
                    try TreeReader(LogTiles(log)).root(size: size) != checkpoint.root
                {
                    report.faults.note(.checkpoint, nil, "checkpoint \(size) has another root")
                }
            }
        } catch {
            report.faults.note(.checkpoint, nil, error.auditSentence)
        }
    }

    // MARK: Views

    mutating func checkViews() {
        if let reason = auditor.questions.views.discarded {
            report.faults.note(.view, nil, reason + ": not used")
        }
        guard scope == .everything else { return }
        do {
            for difference in try auditor.viewDifferences() {
                report.faults.note(.view, difference.sequence, difference.detail)
            }
        } catch {
            report.faults.note(.view, nil, error.auditSentence)
        }
    }

    /// Holds reports as they are kept summed up against what the log gives.
    mutating func checkRollUps() {
        for environment in StoreEnvironment.allCases {
            for kind in RollUp.Kind.allCases {
                do {
                    let agrees = try auditor.reports.rollUpAgrees(kind, environment)
                    guard agrees == false else { continue }
                    let detail =
                        "the \(kind.rawValue) kept for \(environment.name) is not what the log gives"
                    report.faults.note(.view, nil, detail)
                } catch {
                    report.faults.note(.view, nil, error.auditSentence)
                }
            }
        }
    }

    // MARK: Archive

    mutating func checkArchive(_ store: any ArchiveStore, _ progress: (UInt64, UInt64) -> Void) {
        do {
            for finding in try auditor.archiver.audit(store, progress: progress).findings {
                report.faults.note(.archive, finding.sequence, finding.detail)
            }
        } catch {
            report.faults.note(.archive, nil, error.auditSentence)
        }
    }
}
