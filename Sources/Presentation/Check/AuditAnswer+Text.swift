package import LedgerAPI

extension AuditAnswer {
    /// What an audit found, for people: each fault, what to do, the sum.
    package var textLines: [String] {
        faults.map { fault in
            let place = fault.sequence.map { " \($0)" } ?? ""
            return "\(fault.kind.rawValue)\(place): \(fault.detail)"
        }
            + Set(faults.map(\.kind.hint)).sorted().map { "hint: \($0)" }
            + [
                "\(isOK ? "sound" : "DAMAGED"): \(records) records, root "
                    + "\(rootHash ?? "unknown"), \(checkpoints) checkpoints, "
                    + "\(faults.count) faults"
            ]
    }
}
