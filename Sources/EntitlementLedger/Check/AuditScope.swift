package import LedgerAPI

/// How much an audit looks at.
public enum AuditScope: Sendable, CaseIterable {
    /// All there is: records and their checksums, tree, order, evidence, every sealed part,
    /// checkpoints, views.
    case everything
    /// Every record against its hash, the whole tree, order, checkpoints.
    case hashes
    /// What a writer that was stopped may have left half-written: the last records with their keys,
    /// the log's end, its last checkpoints, the views' position. Milliseconds, whatever the size.
    case quick
}

extension AuditAnswer {
    /// What is said of a ledger whose reader did not live to report.
    package static let unreadable = AuditAnswer(
        faults: [
            AuditFault(.record, nil, "the ledger is damaged so that it cannot be read")
        ]
    )
}

extension [AuditFault] {
    /// Lists a fault, as long as there are not too many.
    mutating func note(
        _ kind: AuditFault.Kind,
        _ sequence: UInt64?,
        _ detail: String,
        isKnown: Bool = false
    ) {
        guard count < AuditAnswer.faultLimit else { return }
        append(AuditFault(kind, sequence, detail, isKnown: isKnown))
    }
}
