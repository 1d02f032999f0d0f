/// What a customer is entitled to at T, as known at R.
///
/// Names are numbers still.
public struct CustomerState: Sendable {
    /// The effective instant that is asked about (T).
    package var at: Instant
    /// The highest tier that something of the customer's gives (K7).
    package var tier: String
    /// Z15: the next instant at which tier, features or a purchase's status change without a new
    /// event; nil: never.
    package var validUntil: Instant?
    /// Every feature of the catalog in force at T, by id.
    package var features: [FeatureState]
    /// What the customer owns at T.
    package var purchases: [PurchaseState]
    /// Grants that have begun.
    package var grants: [GrantState]
    /// Trials that have begun, by id.
    package var trials: [TrialState]
    /// What is odd about the answer.
    package var warnings: [Warning]

    /// Access to one feature.
    package struct FeatureState: Sendable, Hashable {
        /// The feature's id.
        package var id: String
        /// Whether the feature is allowed (K5).
        package var isAllowed: Bool { reason != .none }
        /// The first instant at which it no longer is; nil: never, or it is not allowed (K6).
        package var until: Instant?
        /// The first reason that holds.
        package var reason: AccessReason
        /// All that unlocks it at T, once each.
        package var sources: [AccessSource]
        /// The limit at the customer's tier.
        package var limit: LimitState?

        /// Why it cannot be used although it is allowed; nil: it can, or it is not allowed (C5).
        package var refusal: UseRefusal? { isAllowed && limit?.remaining == 0 ? .usedUp : nil }

        /// Whether it can be used at T: it is allowed and something is left of its limit.
        package var isUsable: Bool { isAllowed && refusal == nil }

        /// A feature that the catalog in force does not list: nobody has it (K2).
        package static func absent(_ id: String) -> FeatureState {
            FeatureState(id: id, reason: .none, sources: [])
        }
    }

    /// Why a feature that is allowed cannot be used.
    public enum UseRefusal: String, Sendable, CaseIterable {
        /// Nothing is left of the limit until its window ends (C5).
        case usedUp = "used_up"
    }

    /// A limit and what is left of it.
    package struct LimitState: Sendable, Hashable {
        /// The count of uses, where there is one.
        package var perPeriod: Catalog.PerPeriod?
        /// Uses left in the window; never negative.
        package var remaining: Int64?
        /// The window's end; nil: there is no window, or it ends behind the year 9999.
        package var resetsAt: Instant?
        /// The amount of one use.
        package var perUse: Catalog.PerUse?
    }

    /// A purchase at T.
    package struct PurchaseState: Sendable, Hashable {
        /// The purchase's number.
        package var number: UInt64
        /// The product of the last period that has started (P9); nil without one.
        package var productID: String?
        /// Its kind.
        package var productKind: ProductKind?
        /// The status of the last period that has started, not of the access (P9).
        package var status: PurchaseStatus
        /// The period's end by P2 and P3.
        package var expiresAt: Instant?
        /// Whether the verdict on that period is passed (P7).
        package var isVerified: Bool
        /// The last time that the purchase was compared with its store (P11).
        package var syncedAt: Instant?
        /// Whether it renews, as far as is stated; nil: it is not auto-renewable (P10).
        package var willRenew: Bool?
        /// The product that it renews to; nil: none is stated (P10).
        package var nextProductID: String?
    }

    /// A grant at T (C3).
    package struct GrantState: Sendable, Hashable {
        /// The sequence of its `grant.given`.
        package var sequence: UInt64
        /// Features by id.
        package var features: [String]
        /// A tier's name.
        package var tier: String?
        /// Its stretch.
        package var interval: Interval
        /// Whether T lies inside.
        package var isActive: Bool
    }

    /// A trial at T (C4).
    package struct TrialState: Sendable, Hashable {
        /// The catalog's trial id.
        package var id: String
        /// Days left, rounded up; 0 at or after the end.
        package var remainingDays: Int64
    }

    /// What is odd about the answer.
    package enum Warning: Sendable, Hashable {
        /// A product with access that the catalog in force does not know (K4).
        case unmapped(productID: String)
        /// No catalog was ever published.
        case noCatalog
        /// A purchase expired by time alone and would renew (P10): the store has not told.
        case renewalExpected(purchase: UInt64)
        /// A purchase was claimed by evidence of which the store was not asked since (Stores, rule 7).
        case unconfirmed(purchase: UInt64)
        /// Nothing was ever recorded of the customer; the fold, which passes over what counts for
        /// nothing, does not know it.
        case neverSeen
        /// A salvage left gaps in what is known, which may concern the customer; nor this.
        case eventsLost
    }
}
