public import Entitlements

/// Why a customer has or lacks a feature at T, as known at R, and what would change it: `explain`
/// (row Z2).
public struct ExplanationAnswer: AboutCustomer {
    /// Whom and which point it is about.
    public var question: QuestionEcho
    /// The feature's id.
    public var feature: String
    /// For whom the sentences are.
    public var audience: Audience
    /// The language of the sentences.
    public var language: Language
    /// The time zone in which the sentences tell instants; everything else is in UTC.
    public var zone: String
    /// Access to the feature.
    public var access: FeatureAccess
    /// The next instant at which something of the answer may be told otherwise without a new event
    /// (Z15); nil: never.
    public var validUntil: Instant?
    /// The decision in a sentence.
    public var summary: String
    /// What led to the decision, in order.
    public var steps: [ExplanationStep]
    /// What would change the decision, the nearest first.
    public var wouldChange: [ExplanationChange]
    /// What is known and counts for nothing here.
    public var notUsed: [ExplanationRemark]
    /// How complete what is known of each store is (Z12).
    public var completeness: [StoreCompleteness]
    /// The token of the decision that is explained (row Z11); empty: the answer is masked.
    public var token: String

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Explanation",
        "Why a customer has or lacks a feature",
        Self.init
    ) {
        Field(inline: \.question)
        Field("feature", \.feature, .name)
        Field("audience", \.audience, .word)
        Field("language", \.language, .word)
        Field("zone", \.zone, .name, "The time zone in which the sentences tell instants")
        Field(inline: \.access)
        Field(
            "validUntil",
            \.validUntil,
            .orNull(.instant),
            "The next instant at which the answer may change without a new event; null: never"
        )
        Field("summary", \.summary, .text, "The decision in a sentence").echoed
        Field("steps", \.steps, .list(.object), "What led to the decision, in order")
        Field(
            "wouldChange",
            \.wouldChange,
            .list(.object),
            "What would change the decision, the nearest first"
        )
        Field(
            "notUsed",
            \.notUsed,
            .list(.object),
            "What is known and counts for nothing here"
        )
        Field(
            "completeness",
            \.completeness,
            .list(.object),
            "How complete what is known of each store is"
        )
        Field(
            "token",
            \.token,
            .text(.common(.token)),
            "The token of the decision that is explained: `show --token` answers it again, as `can` does"
        ).echoed
    }
}

/// What a step or remark rests on: the rule, and the event that says so, where one does.
public struct ExplanationMark: Described {
    /// The rule of the model; nil: none speaks of it.
    public var rule: Rule?
    /// What that rule says in short, in English.
    public var ruleText: String?
    /// The event's place in the log.
    public var sequence: UInt64?
    /// When the event holds (T1), or when the step sets in where no event says so.
    public var time: Instant?
    /// When the event was recorded (T3).
    public var recordedAt: Instant?
    /// The event's `type`.
    public var type: String?
    /// Who sent the event.
    public var source: String?
    /// The purchase, grant or trial that it is about, as in `sources`.
    public var about: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExplanationMark", "What a step rests on", Self.init) {
        Field("rule", \.rule, .orNull(.word), "A rule of the model")
        Field(
            "ruleText",
            \.ruleText,
            .orNull(.text),
            "What that rule says in short, in English; null where no rule is named"
        )
        Field("sequence", \.sequence, .orNull(.count))
        Field("time", \.time, .orNull(.instant))
        Field("recordedAt", \.recordedAt, .orNull(.instant))
        Field("type", \.type, .orNull(.name))
        Field("source", \.source, .orNull(.text))
        Field("about", \.about, .orNull(.source))
    }
}

/// One step that led to a decision.
public struct ExplanationStep: Described {
    /// What it rests on.
    public var mark: ExplanationMark
    /// What it does to the decision.
    public var effect: ExplanationEffect
    /// The step in a sentence.
    public var text: String

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExplanationStep", "A step to a decision", Self.init) {
        Field(inline: \.mark)
        Field("effect", \.effect, .object)
        Field("text", \.text, .text)
    }
}

/// What a step does to a decision: its kind, and the parameters that the kind has.
public struct ExplanationEffect: Described {
    /// What kind.
    public var kind: Kind
    /// The tier that is required, unlocked or lacking.
    public var tier: String??
    /// The experiment's id.
    public var experiment: String?
    /// The variant's id.
    public var variant: String?
    /// Since when it is owned.
    public var since: Instant??
    /// Whether somebody else owns it.
    public var ownedByAnother: Bool?
    /// The first instant.
    public var start: Instant??
    /// The first instant after it.
    public var end: Instant??
    /// Until when it holds.
    public var until: Instant??
    /// When it happens.
    public var at: Instant?
    /// Uses of one window.
    public var count: Int64?
    /// How long one window of uses is.
    public var period: UsagePeriod?
    /// The window's end.
    public var resetsAt: Instant??
    /// When the store means to resume what is paused.
    public var resumesAt: Instant?

    /// What a step may do.
    public enum Kind: String, CaseIterable, Sendable {
        case abandoned
        case accountErased = "account_erased"
        case continued, ended, expired, extended
        case failedVerification = "failed_verification"
        case followed
        case formerlyIncluded = "formerly_included"
        case formerlyLacked = "formerly_lacked"
        case grace
        case graceEnded = "grace_ended"
        case granted
        case handedOn = "handed_on"
        case isConsumable = "is_consumable"
        case isFree = "is_free"
        case isLocked = "is_locked"
        case isNotListed = "is_not_listed"
        case isUnmapped = "is_unmapped"
        case kept, leeway
        case linkedCustomer = "linked_customer"
        case linkedPurchase = "linked_purchase"
        case neverVerified = "never_verified"
        case notOwned = "not_owned"
        case nothing
        case nothingBought = "nothing_bought"
        case owned, paused, pending, period, refunded, requires, retrying, reversed, revoked
        case startsLater = "starts_later"
        case trial, unlocks
        case unlocksAll = "unlocks_all"
        case unlocksTier = "unlocks_tier"
        case usedUp = "used_up"
        case variant, verified, withdrawn
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExplanationEffect", "What a step does", Self.init) {
        Field("kind", \.kind, .word)
        Field("tier", \.tier, .orAbsent(.orNull(.name)))
        Field("experiment", \.experiment, .orAbsent(.name))
        Field("variant", \.variant, .orAbsent(.name))
        Field("since", \.since, .orAbsent(.orNull(.instant)))
        Field("ownedByAnother", \.ownedByAnother, .orAbsent(.boolean))
        Field("start", \.start, .orAbsent(.orNull(.instant)))
        Field("end", \.end, .orAbsent(.orNull(.instant)))
        Field("until", \.until, .orAbsent(.orNull(.instant)))
        Field("at", \.at, .orAbsent(.instant))
        Field("count", \.count, .orAbsent(.count))
        Field("period", \.period, .orAbsent(.word))
        Field("resetsAt", \.resetsAt, .orAbsent(.orNull(.instant)))
        Field(
            "resumesAt",
            \.resumesAt,
            .orAbsent(.instant),
            "When the store means to resume what is paused"
        )
    }
}

/// What would change a decision.
public struct ExplanationChange: Described {
    /// What it rests on.
    public var mark: ExplanationMark
    /// What kind.
    public var kind: Kind
    /// Products that would do; empty for other kinds than `purchase`.
    public var products: [String]
    /// Whether it is all that is missing.
    public var isEnough: Bool
    /// Whether the decision is another without the event; nil: there is none, or it was not tried.
    public var isDecisive: Bool?
    /// The change in a sentence.
    public var text: String

    /// What may change a decision.
    public enum Kind: String, CaseIterable, Sendable {
        case allSources = "all_sources"
        case approval, catalog, claim, ends, grant
        case limitReset = "limit_reset"
        case listing, mapping, opens, purchase, refund, renewal, resumption, reversal, trial
        case upgrade, verification, withdrawal
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ExplanationChange",
        "What would change a decision",
        Self.init
    ) {
        Field(inline: \.mark)
        Field("kind", \.kind, .word)
        Field("products", \.products, .list(.name))
        Field("enough", \.isEnough, .boolean, "Whether it is all that is missing")
        Field(
            "decisive",
            \.isDecisive,
            .orNull(.boolean),
            "Whether the decision is another without the event; null: there is none, or it was not tried"
        )
        Field("text", \.text, .text)
    }
}

/// What is known and counts for nothing in a decision.
public struct ExplanationRemark: Described {
    /// What it rests on.
    public var mark: ExplanationMark
    /// Why it counts for nothing: the kind of an effect that stands in its way, or a word of
    /// `Reason`.
    public var reason: String
    /// How many events it speaks of.
    public var count: Int
    /// The remark in a sentence.
    public var text: String

    /// Reasons that are no effects.
    enum Reason: String, CaseIterable {
        case otherEnvironment = "other_environment"
        case repeatedSignal = "repeated_signal"
        case superseded
        case linkPassedOver = "link_passed_over"
        case repeatedTrial = "repeated_trial"
        case otherPeriod = "other_period"
        case claimRefused = "claim_refused"
    }

    private static let reasons =
        (Reason.allCases.map(\.rawValue) + ExplanationEffect.Kind.allCases.map(\.rawValue)).sorted()

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExplanationRemark", "What is not used", Self.init) {
        Field(inline: \.mark)
        Field("reason", \.reason, .text(.choice(reasons)))
        Field("count", \.count, .count)
        Field("text", \.text, .text)
    }
}

/// How complete what is known of a store is (Z12).
public struct StoreCompleteness: Described {
    /// The store's name.
    public var store: String
    /// When the customer's purchases were last compared with it.
    public var lastSyncAt: Instant?
    /// When evidence of it last was checked.
    public var lastVerifiedAt: Instant?
    /// Up to when everything that it sent is known.
    public var completeThrough: Instant?
    /// When a signal of it was last refused.
    public var lastRefusedAt: Instant?

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StoreCompleteness",
        "How complete what is known of a store is",
        Self.init
    ) {
        Field("store", \.store, .text)
        Field("lastSyncAt", \.lastSyncAt, .orNull(.instant))
        Field("lastVerifiedAt", \.lastVerifiedAt, .orNull(.instant))
        Field("completeThrough", \.completeThrough, .orNull(.instant))
        Field("lastRefusedAt", \.lastRefusedAt, .orNull(.instant))
    }
}
