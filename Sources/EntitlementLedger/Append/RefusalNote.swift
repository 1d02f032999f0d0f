import Entitlements

/// What a `signal.noted` says of refused signals (Stores, rule 5): a code and how many there were
/// since the last note.
struct RefusalNote: Sendable, Hashable {
    var code: String
    var count: Int

    /// The event's `name`.
    static let name = "verification_refused"
    /// More than these are not refused in an hour; whoever imports such a note may say so.
    private static let countLimit = 1_000_000_000

    init(code: String, count: Int) {
        self.code = code
        self.count = count
    }

    /// The event's `detail`.
    var detail: String { "code \(code), count \(count)" }

    /// Reads a `detail`; nil if it is not one of a note.
    init?(detail: String) {
        let words = detail.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "code", words[1].last == ",", words[2] == "count",
            let count = Int(words[3]), (0...Self.countLimit).contains(count)
        else { return nil }
        let code = String(words[1].dropLast())
        // Codes are of a closed set, all of this form.
        guard Identifier.isStore(code) else { return nil }
        self.init(code: code, count: count)
    }
}
