import Encodings
package import Entitlements

/// What is wrong with a ledger and what it stands on, in words, with what to do: `doctor`.
package struct DoctorAnswer: Described {
    /// Whether nothing is worse than a note.
    package var isOK: Bool
    /// When it was looked.
    package var at: Instant
    /// What was found, worst first.
    package var findings: [Finding]

    private init(isOK: Bool, at: Instant, findings: [Finding]) {
        self.isOK = isOK
        self.at = at
        self.findings = findings
    }

    /// An answer whose findings come in their order: by severity, then by code and place.
    package init(at instant: Instant, _ findings: [Finding]) {
        self.init(
            isOK: findings.allSatisfy { $0.severity == .note },
            at: instant,
            findings: findings.sorted(by: Finding.precedes)
        )
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Doctor", "What is wrong, with what to do", Self.init) {
        Field("ok", \.isOK, .boolean, "Whether nothing is worse than a note")
        Field("at", \.at, .instant, "When it was looked")
        Field("findings", \.findings, .list(.object), "Worst first")
    }
}

/// Something that a ledger's operator gets wrong, or should know.
package struct Finding: Described {
    /// Which.
    package var code: Code
    /// How bad it is.
    package var severity: Severity
    /// A sentence; names nobody.
    package var what: String
    /// A path, a setting, a store, a job; nil: the ledger as a whole.
    package var place: String?
    /// What to do, in terms of the command or the machine.
    package var remedy: String

    /// How bad a finding is, the worst first.
    package enum Severity: String, Sendable, CaseIterable {
        /// The ledger does not do its work, or gives away what it must keep.
        case error
        /// It will not, or may not have.
        case warning
        /// Nothing is to be done unless somebody wants it so.
        case note
    }

    private init(code: Code, severity: Severity, what: String, place: String?, remedy: String) {
        self.code = code
        self.severity = severity
        self.what = what
        self.place = place
        self.remedy = remedy
    }

    /// A finding, whose severity follows from its code.
    package init(_ code: Code, _ what: String, at place: String? = nil, do remedy: String) {
        self.init(
            code: code,
            severity: code.severity,
            what: what,
            place: place,
            remedy: remedy
        )
    }

    /// The order of findings.
    fileprivate static func precedes(_ one: Finding, _ other: Finding) -> Bool {
        let ranks = [one, other].map { Severity.allCases.firstIndex(of: $0.severity) ?? 0 }
        if ranks[0] != ranks[1] { return ranks[0] < ranks[1] }
        if one.code != other.code { return one.code.rawValue.precedes(other.code.rawValue) }
        return (one.place ?? "").precedes(other.place ?? "")
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Finding", "Something that is wrong", Self.init) {
        Field("code", \.code, .word)
        Field("severity", \.severity, .word)
        Field("what", \.what, .text, "A sentence")
        Field("where", \.place, .orNull(.text), "A path, a setting, a store, a job")
        Field("do", \.remedy, .text, "What to do")
    }
}
