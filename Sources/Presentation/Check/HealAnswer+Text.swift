package import LedgerAPI

extension HealAnswer {
    /// What was mended, for people, and whether the ledger is sound then.
    package var textLines: [String] {
        healed.map { part in
            let work = part.page.map { "page \($0) is a copy of page \(1 - $0)" } ?? "made anew"
            return "healed \(part.name): \(work)"
        } + [verdict]
    }

    private var verdict: String {
        guard isOK else {
            return "DAMAGED: \(faults.count) faults; `entitle audit` names them, and what to do"
        }
        return healed.isEmpty ? "sound: there was nothing to heal" : "sound"
    }
}
