import Entitlements

extension Submission {
    /// Whom its periods name (Stores, rule 7).
    var accounts: [String] { events.compactMap { $0.data.text(.account) } }
}
