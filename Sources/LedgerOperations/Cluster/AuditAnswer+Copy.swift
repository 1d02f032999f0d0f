package import LedgerAPI

extension AuditAnswer {
    /// Whether a node's copy is not what the cluster holds: to fill it again mends that.
    ///
    /// Views are made anew by themselves; what contradicts a signed checkpoint would do so again.
    package var isCopyDamaged: Bool {
        faults.contains { [.record, .tree, .order, .vault, .evidence].contains($0.kind) }
    }
}
