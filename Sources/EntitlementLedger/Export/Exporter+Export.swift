import Encodings
public import Entitlements
import EventLog
public import LedgerAPI

extension Exporter {
    /// Plans an export of a customer (row 8.6).
    ///
    /// - Throws: `LedgerFault.unknownCustomer` for a name that the ledger does not know, one that
    ///   was erased among them.
    public func exportPlan(
        of question: CustomerQuestion,
        redaction: ExportRedaction,
        formats: [ExportFormat]
    ) throws -> ExportPlan {
        let size = try questions.prefix(knownAt: question.point.knownAt)
        let plan = try ExportPlan(
            scope: .customer(question.customer, question.environment),
            at: question.point.at,
            known: question.point.knownAt.instant,
            size: size,
            visibility: question.visibility,
            redaction: redaction,
            formats: formats,
            madeAt: clock(),
            checkpoint: exportCheckpoint(size)
        )
        _ = try export(plan, impersonal: [])
        return plan
    }

    /// Plans an export of a range of the log, for an auditor.
    ///
    /// - Throws: `LedgerFault.emptyRange`.
    public func exportPlan(
        of range: Range<UInt64>,
        redaction: ExportRedaction,
        formats: [ExportFormat]
    ) throws -> ExportPlan {
        let size = try questions.size()
        let range = range.clamped(to: 0..<size)
        let now = clock()
        let plan = try ExportPlan(
            scope: .range(range),
            at: now,
            known: nil,
            size: size,
            visibility: .everything,
            redaction: redaction,
            formats: formats,
            madeAt: now,
            checkpoint: exportCheckpoint(size)
        )
        _ = try export(plan, impersonal: [])
        return plan
    }

    /// The number of the first event that was recorded at or after an instant.
    ///
    /// Cost: O(log n) record reads.
    public func firstSequence(recordedFrom instant: Instant) throws -> UInt64 {
        try questions.prefix(knownAt: .instant(instant.advanced(byMilliseconds: -1)))
    }

    /// Gathers what a plan exports.
    ///
    /// `names`: which members of evidence name nobody, and stay where names are hidden.
    /// - Throws: `LedgerFault`; `otherExport` where the plan is of another ledger or a longer log.
    package func export(
        _ plan: ExportPlan,
        reading names: any EvidenceNames
    ) throws -> LedgerExport {
        try export(plan, impersonal: names.impersonalMembers)
    }

    private func export(_ plan: ExportPlan, impersonal: Set<Name>) throws -> LedgerExport {
        guard try plan.size <= questions.size() else {
            throw LedgerFault(.otherExport, "the export is of a longer log")
        }
        let note = try? SignedNote.parse(plan.checkpoint)
        guard let checkpoint = try? note?.verified(by: [prover.verifierKey]) else {
            throw LedgerFault(.otherExport, "the export is of another ledger")
        }
        return try LedgerExport(
            self,
            plan,
            Checkpoint(checkpoint),
            impersonalMembers: impersonal
        )
    }

    /// A checkpoint of at least a size: the last one that was kept, or a new one.
    ///
    /// One who only reads signs without keeping, as a machine does that does not lead its cluster: the log that
    /// it signs is on the disk and only grows.
    private func exportCheckpoint(_ size: UInt64) throws -> String {
        if prover.storage != nil {
            do {
                return try prover.checkpoint()
            } catch let fault as LogStorageFault where fault.code == .noLeader {}
        }
        let log = prover.log
        let end = try log.end()
        let last = try prover.lastCheckpoint()
        if let last {
            guard last.size <= end.size,
                try last.size == 0 || TreeReader(LogTiles(log)).root(size: last.size) == last.root
            else { throw LogStorageFault(.damaged, "the log does not extend its last checkpoint") }
            if last.size >= size, let kept = try log.checkpoints().last { return kept.note }
        }
        try prover.requireExtendsPublished()
        let text = Checkpoint(origin: prover.identity.origin, size: end.size, root: end.edge.root)
            .text
        return try prover.signer.sign(text).description
    }
}

extension BitemporalPoint.Known {
    /// R as an instant; nil where it was not given as one.
    fileprivate var instant: Instant? {
        guard case .instant(let instant) = self else { return nil }
        return instant
    }
}
