/// What folding everything again gave: `replay`.
package struct ReplayAnswer: Described {
    /// Events that were folded.
    package var events: UInt64
    /// Customers whose state was answered.
    package var customers: Int
    /// SHA-256 over all answers, in the order of the streams, in hexadecimal: two replays of one
    /// prefix agree.
    package var answersDigest: String
    /// Where the views say other than the log.
    package var differences: [String]
    /// What the evidence came to; nil: it was not asked for.
    package var evidence: EvidenceReplay?
    /// What decision tokens came to; nil: none were given.
    package var tokens: TokenReplay?

    /// Makes an answer.
    package init(
        events: UInt64,
        customers: Int,
        answersDigest: String,
        differences: [String],
        evidence: EvidenceReplay? = nil,
        tokens: TokenReplay? = nil
    ) {
        self.events = events
        self.customers = customers
        self.answersDigest = answersDigest
        self.differences = differences
        self.evidence = evidence
        self.tokens = tokens
    }

    /// Whether nothing says other than the log.
    package var isOK: Bool {
        differences.isEmpty && (evidence?.refused ?? 0) == 0 && (tokens?.isOK ?? true)
    }

    /// Its members, in the order in which they are written; `ok` follows from the others.
    package static let fields = Fields(
        "Replay",
        "What a replay found",
        { _, events, customers, digest, differences, evidence, tokens in
            Self(
                events: events,
                customers: customers,
                answersDigest: digest,
                differences: differences,
                evidence: evidence,
                tokens: tokens
            )
        }
    ) {
        Field("ok", \.isOK, .boolean)
        Field("events", \.events, .count)
        Field("customers", \.customers, .count)
        Field(
            "answersDigest",
            \.answersDigest,
            .text(.pattern("^[0-9a-f]{64}$")),
            "SHA-256 over all answers"
        )
        Field("differences", \.differences, .list(.text))
        Field(
            "evidence",
            \.evidence,
            .orNull(.object),
            "What judging the evidence again came to; null: it was not asked for"
        )
        Field(
            "tokens",
            \.tokens,
            .orNull(.object),
            "What decision tokens came to; null: none were given"
        )
    }
}

/// What judging the evidence of a prefix again came to.
package struct EvidenceReplay: Described {
    /// Payloads whose signatures held when they were signed.
    package var verified: Int
    /// Those whose source signs nothing.
    package var unsigned: Int
    /// Those that nobody is configured to judge.
    package var unchecked: Int
    /// Those that an erasure has closed, or that a salvage could not bring back.
    package var erased: Int
    /// Those that are not their source's word: how many.
    package var refused: Int
    /// Those, by their first event; a thousand at most.
    package var refusals: [Refusal]

    /// A payload that is not its source's word.
    package struct Refusal: Described {
        /// Its first event.
        package var sequence: UInt64
        /// Why, a code of a closed set.
        package var code: String

        /// Makes a refusal.
        package init(sequence: UInt64, code: String) {
            self.sequence = sequence
            self.code = code
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "EvidenceRefusal",
            "Evidence that is not its source's word",
            Self.init
        ) {
            Field("sequence", \.sequence, .count)
            Field("code", \.code, .text)
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "EvidenceReplay",
        "What judging evidence again came to",
        Self.init
    ) {
        Field("verified", \.verified, .count)
        Field("unsigned", \.unsigned, .count)
        Field("unchecked", \.unchecked, .count)
        Field("erased", \.erased, .count)
        Field("refused", \.refused, .count)
        Field("refusals", \.refusals, .list(.object))
    }
}

extension EvidenceReplay {
    /// Begins with none.
    package init() {
        self.init(
            verified: 0,
            unsigned: 0,
            unchecked: 0,
            erased: 0,
            refused: 0,
            refusals: []
        )
    }
}

/// What decision tokens came to, held against the log (row Z11).
package struct TokenReplay: Described {
    /// How many came to what; those to which none came may be left out.
    package private(set) var counts: [Outcome: Int] = [:]
    /// Those that did not come out the same; a thousand at most.
    package private(set) var others: [Other] = []

    /// More are counted, not listed.
    private static let listLimit = 1000

    /// What one token came to.
    package enum Outcome: String, CaseIterable, Sendable {
        /// The log gives the same answer, byte for byte.
        case same
        /// It gives another.
        case differs
        /// The customer's name is gone: nobody can ask again.
        case erased
        /// It is of another ledger, or of another history of this one: the log is shorter, has other
        /// events up to there, or names no customer where it points.
        case otherLedger = "other_ledger"
        /// It was given by other rules, and comes out otherwise by these.
        case otherRules = "other_rules"
        /// It names nobody: who is meant must be said.
        case customerMissing = "customer_missing"
        /// It is about another customer than was said.
        case otherCustomer = "other_customer"
        /// It is no token, or one of a newer version.
        case malformed

        /// Whether the log contradicts the token, or the token is none of its own.
        package var isFault: Bool {
            switch self {
            case .differs, .otherLedger, .otherCustomer, .malformed: true
            case .same, .erased, .otherRules, .customerMissing: false
            }
        }
    }

    /// A token that did not come out the same.
    package struct Other: Described {
        /// Its place among those given, from 1.
        package var number: Int
        /// What it came to.
        package var outcome: Outcome

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "OtherToken",
            "A token that did not come out the same",
            Self.init
        ) {
            Field("number", \.number, .count, "Its place among those given, from 1")
            Field("outcome", \.outcome, .word)
        }
    }

    /// Begins with none.
    package init() {}

    /// Whether none is a fault.
    package var isOK: Bool { !counts.contains { $0.key.isFault && $0.value > 0 } }

    /// Counts a token.
    package mutating func add(_ outcome: Outcome) {
        counts[outcome, default: 0] += 1
        guard outcome != .same, others.count < Self.listLimit else { return }
        others.append(Other(number: counts.values.reduce(0, +), outcome: outcome))
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("TokenReplay", "What decision tokens came to", read) {
        count(of: .same)
        count(of: .differs)
        count(of: .erased)
        count(of: .otherLedger)
        count(of: .otherRules)
        count(of: .customerMissing)
        count(of: .otherCustomer)
        count(of: .malformed)
        Field(
            "others",
            \.others,
            .list(.object),
            "Those that did not come out the same, by their place among those given"
        )
    }

    private static func count(of outcome: Outcome) -> Field<Self, Int> {
        Field(outcome.rawValue, { $0.counts[outcome] ?? 0 }, .count)
    }

    @Sendable
    private static func read(
        same: Int,
        differs: Int,
        erased: Int,
        otherLedger: Int,
        otherRules: Int,
        customerMissing: Int,
        otherCustomer: Int,
        malformed: Int,
        others: [Other]
    ) -> Self {
        var replay = Self()
        replay.counts = [
            .same: same, .differs: differs, .erased: erased, .otherLedger: otherLedger,
            .otherRules: otherRules, .customerMissing: customerMissing,
            .otherCustomer: otherCustomer, .malformed: malformed,
        ]
        replay.others = others
        return replay
    }
}
