/// What a customer is entitled to at T, as known at R.
///
/// Names are numbers still.
public struct CustomerState: Sendable {
    /// The effective instant that is asked about (T).
    public var at: Instant
    /// The highest tier that something of the customer's gives (K7).
    public var tier: String
    /// Z15: the next instant at which tier, features or a purchase's status change without a new
    /// event; nil: never.
    public var validUntil: Instant?
    /// Every feature of the catalog in force at T, by id.
    public var features: [FeatureState]
    /// What the customer owns at T.
    public var purchases: [PurchaseState]
    /// Grants that have begun.
    public var grants: [GrantState]
    /// Trials that have begun, by id.
    public var trials: [TrialState]
    /// What is odd about the answer.
    public var warnings: [Warning]

    /// Access to one feature.
    public struct FeatureState: Sendable, Hashable {
        /// The feature's id.
        public var id: String
        /// Whether the feature is allowed (K5).
        public var isAllowed: Bool { reason != .none }
        /// The first instant at which it no longer is; nil: never, or it is not allowed (K6).
        public var until: Instant?
        /// The first reason that holds.
        public var reason: AccessReason
        /// All that unlocks it at T, once each.
        public var sources: [AccessSource]
        /// The limit at the customer's tier.
        public var limit: LimitState?

        /// Why it cannot be used although it is allowed; nil: it can, or it is not allowed (C5).
        public var refusal: UseRefusal? { isAllowed && limit?.remaining == 0 ? .usedUp : nil }

        /// Whether it can be used at T: it is allowed and something is left of its limit.
        public var isUsable: Bool { isAllowed && refusal == nil }

        /// A feature that the catalog in force does not list: nobody has it (K2).
        public static func absent(_ id: String) -> FeatureState {
            FeatureState(id: id, reason: .none, sources: [])
        }
    }

    /// Why a feature that is allowed cannot be used.
    public enum UseRefusal: String, Sendable, CaseIterable {
        /// Nothing is left of the limit until its window ends (C5).
        case usedUp = "used_up"
    }

    /// A limit and what is left of it.
    public struct LimitState: Sendable, Hashable {
        /// The count of uses, where there is one.
        public var perPeriod: Catalog.PerPeriod?
        /// Uses left in the window; never negative.
        public var remaining: Int64?
        /// The window's end.
        public var resetsAt: Instant?
        /// The amount of one use.
        public var perUse: Catalog.PerUse?
    }

    /// A purchase at T.
    public struct PurchaseState: Sendable, Hashable {
        /// The purchase's number.
        public var number: UInt64
        /// The product of the last period that has started (P9); nil without one.
        public var productID: String?
        /// Its kind.
        public var productKind: ProductKind?
        /// The status of the last period that has started, not of the access (P9).
        public var status: PurchaseStatus
        /// The period's end by P2 and P3.
        public var expiresAt: Instant?
        /// Whether the verdict on that period is passed (P7).
        public var isVerified: Bool
        /// The last time that the purchase was compared with its store (P11).
        public var syncedAt: Instant?
        /// Whether it renews, as far as is stated; nil: it is not auto-renewable (P10).
        public var willRenew: Bool?
        /// The product that it renews to; nil: none is stated (P10).
        public var nextProductID: String?
    }

    /// A grant at T (C3).
    public struct GrantState: Sendable, Hashable {
        /// The sequence of its `grant.given`.
        public var sequence: UInt64
        /// Features by id.
        public var features: [String]
        /// A tier's name.
        public var tier: String?
        /// Its stretch.
        public var interval: Interval
        /// Whether T lies inside.
        public var isActive: Bool
    }

    /// A trial at T (C4).
    public struct TrialState: Sendable, Hashable {
        /// The catalog's trial id.
        public var id: String
        /// Days left, rounded up; 0 at or after the end.
        public var remainingDays: Int64
    }

    /// What is odd about the answer.
    public enum Warning: Sendable, Hashable {
        /// A product with access that the catalog in force does not know (K4).
        case unmapped(productID: String)
        /// No catalog was ever published.
        case noCatalog
        /// A purchase expired by time alone and would renew (P10): the store has not told.
        case renewalExpected(purchase: UInt64)
        /// Nothing was ever recorded of the customer; the fold, which passes over what counts for
        /// nothing, does not know it.
        case neverSeen
        /// A salvage left gaps in what is known, which may concern the customer; nor this.
        case eventsLost
    }
}
