public import Entitlements

/// What a customer is entitled to at T, as known at R: `show`.
public struct StateAnswer: Provable {
    /// Whom and which point it is about.
    public var question: QuestionEcho
    /// What the customer has.
    public var state: StateContent
    /// What asks the same question again and proves the answer (row Z11).
    public var token: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("State", "The state of a customer", Self.init) {
        Field(inline: \.question)
        Field(inline: \.state)
        Field("token", \.token, .token).echoed
    }
}

extension StateAnswer {
    /// An answer, whose token is made of its text.
    package init(_ question: QuestionEcho, _ state: StateContent) {
        self.init(question: question, state: state, token: nil)
    }
}

/// What a state says of its customer.
public struct StateContent: Described {
    /// The customer's tier (K7).
    public var tier: String
    /// The next instant at which the answer changes without a new event (Z15); nil: never.
    public var validUntil: Instant?
    /// Every feature of the catalog in force at T, by id.
    public var features: [Keyed<FeatureAccess>]
    /// What the customer owns at T, by name.
    public var purchases: [PurchaseState]
    /// Grants that have begun, by id.
    public var grants: [GrantState]
    /// Trials that have begun, by id.
    public var trials: [TrialState]
    /// What is odd about the answer.
    public var warnings: [StateWarning]

    /// Its members, in the order in which they are written.
    package static let fields = Fields("StateContent", "What a customer has", Self.init) {
        Field("tier", \.tier, .name)
        Field(
            "validUntil",
            \.validUntil,
            .orNull(.instant),
            "The next instant at which the answer changes without a new event; null: never"
        )
        Field("features", \.features, .map(.object))
        Field("purchases", \.purchases, .list(.object))
        Field("grants", \.grants, .list(.object))
        Field("trials", \.trials, .list(.object))
        Field("warnings", \.warnings, .list(.object))
    }
}

/// A purchase at T.
public struct PurchaseState: Described {
    /// `STORE/ORIGINAL_ID`, or `erased/NUMBER`.
    public var purchase: String
    /// The product; nil: none is known.
    public var productID: String?
    /// The product's kind; nil: none is known.
    public var productKind: ProductKind?
    /// What the purchase is at T (P9).
    public var status: PurchaseStatus
    /// The end of the period by what is known; nil: it has none.
    public var expiresAt: Instant?
    /// Whether evidence was checked and held (P7).
    public var isVerified: Bool
    /// Whether the store was asked (P11).
    public var isSynced: Bool
    /// When the store was asked last (P11).
    public var syncedAt: Instant?
    /// Whether it renews by itself (P10); nil: nobody said.
    public var willRenew: Bool?
    /// What it renews as (P10); nil: nobody said.
    public var nextProductID: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Purchase", "A purchase", Self.init) {
        Field("purchase", \.purchase, .source)
        Field("productId", \.productID, .orNull(.name))
        Field("productKind", \.productKind, .orNull(.productKind))
        Field("status", \.status, .word)
        Field("expiresAt", \.expiresAt, .orNull(.instant))
        Field("isVerified", \.isVerified, .boolean)
        Field("isSynced", \.isSynced, .boolean)
        Field("syncedAt", \.syncedAt, .orNull(.instant))
        Field("willRenew", \.willRenew, .orNull(.boolean))
        Field("nextProductId", \.nextProductID, .orNull(.name))
    }
}

/// A grant at T (C3).
public struct GrantState: Described {
    /// The grant's id, or `erased/NUMBER`.
    public var grantID: String
    /// The features that it unlocks, by id.
    public var features: [String]
    /// The tier that it lifts to; nil: none.
    public var tier: String?
    /// Its first instant.
    public var startsAt: Instant
    /// The end of the period by what is known; nil: it has none.
    public var expiresAt: Instant?
    /// Whether T lies inside.
    public var isActive: Bool

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Grant", "A grant", Self.init) {
        Field("grantId", \.grantID, .identifier)
        Field("features", \.features, .list(.name))
        Field("tier", \.tier, .orNull(.name))
        Field("startsAt", \.startsAt, .instant)
        Field("expiresAt", \.expiresAt, .orNull(.instant))
        Field("active", \.isActive, .boolean)
    }
}

/// A trial at T (C4).
public struct TrialState: Described {
    /// The catalog's id of the trial.
    public var trialID: String
    /// Rounded up; 0 at or after the end.
    public var remainingDays: Int64

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Trial", "A trial", Self.init) {
        Field("trialId", \.trialID, .name)
        Field("remainingDays", \.remainingDays, .count)
    }
}

/// What is odd about a state.
public struct StateWarning: Described {
    /// What kind.
    public var code: Code
    /// The product of `unmapped`.
    public var productID: String?
    /// The purchase of `renewal_expected` and `unconfirmed`.
    public var purchase: String?

    /// What may be odd.
    public enum Code: String, CaseIterable, Sendable {
        /// A product with access that the catalog in force does not know (K4).
        case unmapped
        /// No catalog was ever published.
        case noCatalog = "no_catalog"
        /// A purchase expired by time alone and would renew: the store has not told.
        case renewalExpected = "renewal_expected"
        /// A purchase was claimed by evidence that was old, and its store was not asked since.
        case unconfirmed
        /// Nothing was ever recorded of the customer.
        case neverSeen = "never_seen"
        /// A salvage left gaps in what is known, which may concern the customer.
        case eventsLost = "events_lost"

        /// The rules since which there is this warning (`RulesVersion`).
        var since: UInt16 {
            switch self {
            case .unmapped, .noCatalog: 1
            case .renewalExpected, .neverSeen, .eventsLost: 2
            case .unconfirmed: 3
            }
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Warning", "What is odd about an answer", Self.init) {
        Field("code", \.code, .word)
        Field("productId", \.productID, .orAbsent(.name))
        Field("purchase", \.purchase, .orAbsent(.source))
    }
}
