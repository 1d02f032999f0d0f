package import LedgerAPI

extension ClaimItem {
    /// What became of one purchase that was handed in, in a line.
    package var textLine: String {
        if let code {
            return "refused: \(detail ?? "") [\(code)]" + (owner.map { "; it is \($0)'s" } ?? "")
        }
        return "\(outcome.rawValue): \(purchase ?? "")"
            + (sequence.map { " (event \($0))" } ?? "")
            + (moves == true ? ", taken from " + (owner ?? "another customer") : "")
    }
}
