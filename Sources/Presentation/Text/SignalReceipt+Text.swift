package import LedgerAPI

extension SignalReceipt {
    /// What became of a request, in a line.
    ///
    /// `done`: what was done if it was recorded, in words.
    package func textLine(done: String) -> String {
        let place = sequence.map { " (event \($0))" } ?? ""
        return switch outcome {
        case .appended: done + place
        case .duplicate: "recorded before" + place
        case .known: "known already: nothing to record"
        }
    }
}
