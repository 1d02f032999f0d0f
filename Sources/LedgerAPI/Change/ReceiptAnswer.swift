package import Entitlements

/// What became of a request: `grant`, `withdraw`, `trial`, `link`, `use`, `claim`, `transfer`,
/// `release`, `catalog publish`.
package struct ReceiptAnswer: Described {
    /// What became of it, and where it stands.
    package var receipt: SignalReceipt
    /// The idempotency key.
    package var id: String
    /// For a claim: whether any event names the purchase; nil: it is none.
    package var isPurchaseKnown: Bool?
    /// Who owned the purchase until then, for support only; nil: nobody, or it is no change of owners.
    package var formerOwner: String?
    /// The grant that was given or ended; nil: none was.
    package var grantID: String?
    /// The use that was recorded or taken back; nil: none was.
    package var useID: String?
    /// What a use leaves; nil: the request is none.
    package var use: Use?
    /// What a dry run found; nil: it was recorded.
    package var dryRun: DryRun?

    /// What a use leaves.
    package struct Use: Described {
        /// The end of the lease, for a limit in seconds a use; nil: there is none.
        package var endsAt: Instant?
        /// The limit as it stands then; nil: the feature has none.
        package var limit: UsageLimit?

        /// Tells what is left.
        package init(endsAt: Instant?, limit: UsageLimit?) {
            self.endsAt = endsAt
            self.limit = limit
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("Use", "What a use leaves", Self.init) {
            Field(
                "endsAt",
                \.endsAt,
                .orNull(.instant),
                "use: the end of the lease, for a limit in seconds a use"
            )
            Field("limit", \.limit, .orNull(.object), "use: what is left, as `can` shows it")
        }
    }

    /// What a dry run found.
    package struct DryRun: Described {
        /// What would differ for the customer; nil: it is about nobody in particular.
        package var difference: DifferenceAnswer?

        /// Tells what would differ.
        package init(difference: DifferenceAnswer?) { self.difference = difference }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "DryRun",
            "What a dry run found",
            { _, difference in Self(difference: difference) }
        ) {
            Field(
                "dryRun",
                { _ in true },
                .trueOrAbsent,
                "Whether nothing was recorded: what would have been"
            )
            Field(
                "difference",
                \.difference,
                .orNull(.object),
                "With dryRun: what would differ for the customer; null: it is about nobody in particular"
            )
        }
    }

    /// Makes an answer.
    package init(
        receipt: SignalReceipt,
        id: String,
        isPurchaseKnown: Bool? = nil,
        formerOwner: String? = nil,
        grantID: String? = nil,
        useID: String? = nil,
        use: Use? = nil,
        dryRun: DryRun? = nil
    ) {
        self.receipt = receipt
        self.id = id
        self.isPurchaseKnown = isPurchaseKnown
        self.formerOwner = formerOwner
        self.grantID = grantID
        self.useID = useID
        self.use = use
        self.dryRun = dryRun
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Receipt", "What became of a request", Self.init) {
        Field(inline: \.receipt)
        Field(
            "id",
            \.id,
            .identifier,
            "The request's id: the idempotency key, with `@…` behind it by a customer's token"
        )
        Field(
            "purchaseKnown",
            \.isPurchaseKnown,
            .orAbsent(.boolean),
            "claim: whether any event names the purchase"
        )
        Field(
            "formerOwner",
            \.formerOwner,
            .orAbsent(.identifier),
            "transfer, release: who owned the purchase until then"
        )
        Field("grantId", \.grantID, .orAbsent(.identifier), "grant, withdraw")
        Field("useId", \.useID, .orAbsent(.identifier), "use: what takes it back")
        Field(inlineOrAbsent: \.use)
        Field(inlineOrAbsent: \.dryRun)
    }
}

/// What became of something that was to be recorded.
package struct SignalReceipt: Described {
    /// What became of it.
    package var outcome: Outcome
    /// The place of its first event; nil: there is none.
    package var sequence: UInt64?
    /// Events of a log that has it; of a duplicate at least, which came to stand as a whole (E2); nil: there is none.
    package var size: UInt64?

    /// What may become of it.
    package enum Outcome: String, Sendable, CaseIterable {
        /// It stands in the log.
        case appended
        /// It was recorded before (E1).
        case duplicate
        /// It says nothing that the ledger does not know.
        case known
    }

    /// Makes a receipt.
    package init(_ outcome: Outcome, sequence: UInt64?, size: UInt64?) {
        self.outcome = outcome
        self.sequence = sequence
        self.size = size
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("SignalReceipt", "What became of a signal", Self.init) {
        Field("outcome", \.outcome, .word)
        Field("sequence", \.sequence, .orNull(.count), "Its first event; null: there is none")
        Field(
            "size",
            \.size,
            .orNull(.count),
            "Events of a log that has it, as `Ledger-Min-Sequence` takes it"
        )
    }
}
