/// What became of signed transactions, one item for each in their order: `claim`.
package struct ClaimAnswer: Described {
    /// What became of each.
    package var items: [ClaimItem]
    /// Whether nothing was recorded: what would have become of them.
    package var isDryRun: Bool

    /// Makes an answer.
    package init(items: [ClaimItem], isDryRun: Bool = false) {
        self.items = items
        self.isDryRun = isDryRun
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Claim",
        "What became of signed transactions",
        Self.init
    ) {
        Field("items", \.items, .list(.object))
        Field("dryRun", \.isDryRun, .trueOrAbsent, "Whether nothing was recorded")
    }
}

/// What became of a restore; no items are nothing to restore (row 6.4).
package struct RestoreAnswer: Described {
    /// What became of each transaction, in their order.
    package var items: [ClaimItem]
    /// Whether nothing was recorded: what would have become of them.
    package var isDryRun: Bool

    /// Makes an answer.
    package init(items: [ClaimItem], isDryRun: Bool = false) {
        self.items = items
        self.isDryRun = isDryRun
    }

    /// Its members, in the order in which they are written; the counts follow from the items.
    package static let fields = Fields(
        "RestoreAnswer",
        "What became of a restore",
        { _, _, _, items, isDryRun in Self(items: items, isDryRun: isDryRun) }
    ) {
        count(of: .recorded)
        count(of: .known)
        count(of: .refused)
        Field("items", \.items, .list(.object))
        Field("dryRun", \.isDryRun, .trueOrAbsent, "Whether nothing was recorded")
    }

    private static func count(of outcome: ClaimItem.Outcome) -> Field<Self, Int> {
        Field(
            outcome.rawValue,
            { answer in answer.items.count { $0.outcome == outcome } },
            .count
        )
    }
}

/// What became of one signed transaction.
package struct ClaimItem: Described {
    /// What became of it.
    package var outcome: Outcome
    /// `STORE/ORIGINAL_ID`; nil: the transaction could not be verified.
    package var purchase: String?
    /// The first event that says so; nil: there is none.
    package var sequence: UInt64?
    /// Events of a log that has it; of what was known at least; nil: there is none.
    package var size: UInt64?
    /// Why it is refused, a code of a closed set; nil: it is not.
    package var code: String?
    /// A sentence beside the code; holds no id.
    package var detail: String?
    /// Who owns the purchase where that is why it is refused, or from whom it would move, for support
    /// only (Stores, rule 7).
    package var owner: String?
    /// In a dry run: whether the purchase would be taken from another customer; nil: it is none.
    package var moves: Bool?

    /// What may become of one.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Something of it was new.
        case recorded
        /// The ledger knew it, and the customer owns it.
        case known
        /// Nothing of it was recorded.
        case refused
    }

    /// Makes an item.
    package init(
        outcome: Outcome,
        purchase: String?,
        sequence: UInt64? = nil,
        size: UInt64? = nil,
        code: String? = nil,
        detail: String? = nil,
        owner: String? = nil,
        moves: Bool? = nil
    ) {
        self.outcome = outcome
        self.purchase = purchase
        self.sequence = sequence
        self.size = size
        self.code = code
        self.detail = detail
        self.owner = owner
        self.moves = moves
    }

    /// An item for a transaction that is not what the store signed.
    package init(unverified code: String, _ detail: String) {
        self.init(outcome: .refused, purchase: nil, code: code, detail: detail)
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ClaimOutcome",
        "What became of a signed transaction",
        Self.init
    ) {
        Field("outcome", \.outcome, .word)
        Field(
            "purchase",
            \.purchase,
            .orNull(.source),
            "null where the transaction could not be verified"
        )
        Field("sequence", \.sequence, .orNull(.count), "The first event that says so")
        // A server of before does not say it: what it tells of a restore is read all the same.
        Field(
            "size",
            \.size,
            .orNull(.count),
            "Events of a log that has it, as `Ledger-Min-Sequence` takes it"
        ).since(6, before: nil)
        Field(
            "code",
            \.code,
            .orAbsent(.text(.pattern("^[a-z_]+$"))),
            "refused: the reason, of a closed set"
        )
        Field("detail", \.detail, .orAbsent(.text))
        Field(
            "owner",
            \.owner,
            .orAbsent(.identifier),
            "claimed_by_another, or moves: who owns the purchase; for support only"
        )
        Field(
            "moves",
            \.moves,
            .orAbsent(.boolean),
            "dryRun: whether the purchase would be taken from another customer"
        )
    }
}
