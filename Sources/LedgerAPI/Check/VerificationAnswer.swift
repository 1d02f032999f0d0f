package import Entitlements

/// What judging recorded evidence again came to: `verify`.
package struct VerificationAnswer: Described {
    /// Size of the prefix whose evidence was judged.
    package var sequence: UInt64
    /// The environment.
    package var environment: StoreEnvironment
    /// Whose evidence it is; nil: everybody's.
    package var customer: String?
    /// Payloads by what became of them.
    package var counts: VerificationCounts
    /// Verdicts that rested on payloads that failed, and on nothing else.
    package var lapsed: Int
    /// Those that were recorded as `verification.failed` by this call.
    package var recorded: Int
    /// Payloads in the order of the log: of a customer all, of everybody those that failed; a thousand
    /// at most.
    package var evidence: [VerifiedEvidence]
    /// Whether the list holds all of those.
    package var isWhole: Bool

    /// Makes an answer; without counts and list, as it begins.
    package init(
        sequence: UInt64,
        environment: StoreEnvironment,
        customer: String?,
        counts: VerificationCounts = VerificationCounts(),
        lapsed: Int = 0,
        recorded: Int = 0,
        evidence: [VerifiedEvidence] = [],
        isWhole: Bool = true
    ) {
        self.sequence = sequence
        self.environment = environment
        self.customer = customer
        self.counts = counts
        self.lapsed = lapsed
        self.recorded = recorded
        self.evidence = evidence
        self.isWhole = isWhole
    }

    /// Whether no payload failed.
    package var isOK: Bool { counts.failed == 0 }

    /// Its members, in the order in which they are written; `ok` follows from the others.
    package static let fields = Fields(
        "EvidenceVerification",
        "What judging recorded evidence again came to",
        { _, sequence, environment, customer, counts, lapsed, recorded, evidence, isWhole in
            Self(
                sequence: sequence,
                environment: environment,
                customer: customer,
                counts: counts,
                lapsed: lapsed,
                recorded: recorded,
                evidence: evidence,
                isWhole: isWhole
            )
        }
    ) {
        Field("ok", \.isOK, .boolean, "Whether no payload failed")
        Field("sequence", \.sequence, .count, "Size of the prefix whose evidence was judged")
        Field("environment", \.environment, .environment)
        Field("customer", \.customer, .orNull(.identifier), "null: everybody's")
        Field(inline: \.counts)
        Field(
            "lapsed",
            \.lapsed,
            .count,
            "Verdicts that rested on payloads that failed, and on nothing else"
        )
        Field("recorded", \.recorded, .count, "Those that this call recorded as failed")
        Field(
            "evidence",
            \.evidence,
            .list(.object),
            "Payloads in the order of the log: of a customer all, of everybody those that failed"
        )
        Field("whole", \.isWhole, .boolean, "Whether the list, which has a limit, holds all")
    }
}

/// How many payloads came to what.
package struct VerificationCounts: Described {
    /// Payloads whose signatures hold.
    package var verified = 0
    /// Those whose source signs nothing.
    package var unsigned = 0
    /// Those that nobody is configured to judge.
    package var unchecked = 0
    /// Those that an erasure has closed, or that a salvage could not bring back.
    package var erased = 0
    /// Those that no longer verify.
    package var failed = 0

    /// Begins with none.
    package init() {}

    /// How many came to an outcome.
    package subscript(outcome: VerifiedEvidence.Outcome) -> Int {
        get { self[keyPath: Self.place(of: outcome)] }
        set { self[keyPath: Self.place(of: outcome)] = newValue }
    }

    private static func place(
        of outcome: VerifiedEvidence.Outcome
    ) -> WritableKeyPath<Self, Int> {
        switch outcome {
        case .verified: \.verified
        case .unsigned: \.unsigned
        case .unchecked: \.unchecked
        case .erased: \.erased
        case .failed: \.failed
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "VerificationCounts",
        "How many payloads came to what",
        { verified, unsigned, unchecked, erased, failed in
            var counts = Self()
            (counts.verified, counts.unsigned, counts.unchecked) = (verified, unsigned, unchecked)
            (counts.erased, counts.failed) = (erased, failed)
            return counts
        }
    ) {
        Field("verified", \.verified, .count, "Payloads whose signatures hold")
        Field("unsigned", \.unsigned, .count, "Those whose source signs nothing")
        Field("unchecked", \.unchecked, .count, "Those that nobody is configured to judge")
        Field(
            "erased",
            \.erased,
            .count,
            "Those that an erasure has closed, or that a salvage could not bring back"
        )
        Field("failed", \.failed, .count, "Those that no longer verify")
    }
}

/// A payload that was judged again.
package struct VerifiedEvidence: Described {
    /// The first event that was read from it.
    package var sequence: UInt64
    /// The purchases that its events are about, by name.
    package var purchases: [String]
    /// What became of it.
    package var outcome: Outcome
    /// Why it failed, a code of a closed set; nil: it did not.
    package var code: String?
    /// Verdicts that rested on it, and on nothing else.
    package var lapsed: Int

    /// What may become of one.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Its signatures hold.
        case verified
        /// Its source signs nothing.
        case unsigned
        /// Nobody is configured to judge it.
        case unchecked
        /// An erasure has closed it, or a salvage could not bring it back.
        case erased
        /// It no longer verifies.
        case failed
    }

    /// Tells what became of one.
    package init(
        sequence: UInt64,
        purchases: [String],
        outcome: Outcome,
        code: String? = nil,
        lapsed: Int = 0
    ) {
        self.sequence = sequence
        self.purchases = purchases
        self.outcome = outcome
        self.code = code
        self.lapsed = lapsed
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "VerifiedEvidence",
        "A payload that was judged again",
        Self.init
    ) {
        Field("sequence", \.sequence, .count, "The first event that was read from it")
        Field("purchases", \.purchases, .list(.source))
        Field("outcome", \.outcome, .word)
        Field(
            "code",
            \.code,
            .orNull(.text(.pattern("^[a-z_]+$"))),
            "failed: the reason, of a closed set"
        )
        Field("lapsed", \.lapsed, .count, "Verdicts that rested on it, and on nothing else")
    }
}
