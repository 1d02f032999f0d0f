/// What was mended of a ledger where it stands, and how it stands then: `salvage --heal`.
public struct HealAnswer: Described {
    /// What was mended.
    public var healed: [HealedPart]
    /// What an audit finds wrong in the end.
    public var faults: [AuditFault]

    /// Makes an answer.
    package init(healed: [HealedPart], faults: [AuditFault]) {
        self.healed = healed
        self.faults = faults
    }

    /// Whether an audit finds the ledger sound in the end.
    public var isOK: Bool { faults.isEmpty }

    /// Its members, in the order in which they are written; `ok` follows from the faults.
    package static let fields = Fields(
        "Heal",
        "What was mended in place, and whether the ledger is sound",
        { _, healed, faults in Self(healed: healed, faults: faults) }
    ) {
        Field("ok", \.isOK, .boolean, "Whether an audit finds the ledger sound in the end")
        Field("healed", \.healed, .list(.object))
        Field("faults", \.faults, .list(.object))
    }
}

/// A part of a ledger that was mended.
public struct HealedPart: Described {
    /// Which one.
    public var name: Name
    /// The meta page that is a copy of the other one, 0 or 1; nil: the part was made anew.
    public var page: Int?

    /// What can be mended.
    public enum Name: String, Sendable, CaseIterable {
        /// One meta page of its file.
        case log, vault
        /// All of it, from the log or the vault.
        case views, journal
    }

    /// Makes a part.
    package init(_ name: Name, page: Int?) {
        self.name = name
        self.page = page
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("HealedPart", "What was mended", Self.init) {
        Field("part", \.name, .word)
        Field(
            "page",
            \.page,
            .orNull(.count),
            "The meta page that is a copy of the other one now; null for views and journal"
        )
    }
}
