package import LedgerAPI

extension VerificationAnswer {
    /// What became of evidence, for people: what is listed, then the sums.
    package var textLines: [String] {
        var lines = evidence.map { item in
            let purchases = item.purchases.joined(separator: ", ")
            return "event \(item.sequence)\(purchases.isEmpty ? "" : ", \(purchases)"): "
                + item.outcome.rawValue + (item.code.map { ", \($0)" } ?? "")
        }
        if !isWhole { lines.append("and more, which are counted only") }
        let sums = VerifiedEvidence.Outcome.allCases.map { "\(counts[$0]) \($0.rawValue)" }
        lines.append("evidence: " + sums.joined(separator: ", "))
        if lapsed > 0 { lines.append("verdicts lapsed: \(lapsed), recorded now: \(recorded)") }
        return lines
    }
}
