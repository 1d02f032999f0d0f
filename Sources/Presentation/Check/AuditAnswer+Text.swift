package import LedgerAPI

extension AuditAnswer {
    /// What an audit found, for people: each fault, what to do, the sum.
    package var textLines: [String] {
        faults.map { fault in
            let place = fault.sequence.map { " \($0)" } ?? ""
            return "\(fault.kind.rawValue)\(place): \(fault.detail)"
        }
            + hints.map { "hint: \($0)" }
            + [
                "\(isOK ? "sound" : "DAMAGED"): \(records) records, root "
                    + "\(rootHash ?? "unknown"), \(checkpoints) checkpoints, "
                    + "\(faults.count) faults"
            ]
    }

    /// What to do, each once; of a log that is damaged no views are made anew.
    private var hints: [String] {
        let isLogDamaged = faults.contains {
            !$0.isKnown && [.record, .order, .tree].contains($0.kind)
        }
        let told = faults.filter { !isLogDamaged || $0.kind != .view }
        return Set(told.map(\.kind.hint)).sorted()
    }
}
