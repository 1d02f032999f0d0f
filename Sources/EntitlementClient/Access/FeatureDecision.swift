public import Entitlements
public import LedgerAPI

/// Whether a feature is open, and all that there is to say about it.
public struct FeatureDecision: Sendable, Hashable {
    /// The feature's id.
    public let feature: String
    /// Whether it is open.
    public internal(set) var isOpen = false
    /// Why; nil: for a later stretch than the one that the server gave a reason for.
    public internal(set) var reason: AccessReason?
    /// Where the answer comes from.
    public internal(set) var source = EntitlementSource.builtIn
    /// The first instant at which it is closed again; nil: none is known, or it is closed.
    public internal(set) var until: Instant?
    /// What unlocks it, by name: `STORE/ORIGINAL_ID`, `grant/ID`, `trial/ID`.
    public internal(set) var sources: [String] = []
    /// The limit and what is left of it; nil: there is none.
    public internal(set) var limit: UsageLimit?
    /// Ids of the products that open it; empty where it is open, or nothing opens it (row 4.4).
    public internal(set) var requiredProducts: [String] = []
    /// Whether what is known is old: it counts all the same (row Z17).
    public let isStale: Bool

    init(_ feature: String, isStale: Bool) {
        self.feature = feature
        self.isStale = isStale
    }

    /// Whether it can be used: it is open, and something is left of its limit as far as is known.
    public var isUsable: Bool { isOpen && limit?.remaining != 0 }
}

/// That a feature is closed, and what opens it: thrown where it is required (row B3).
public struct SubscriptionRequired: Error, Sendable, Hashable {
    /// The feature's id.
    public let feature: String
    /// Ids of the products that open it; empty where nothing does.
    public let products: [String]

    init(feature: String, products: [String]) {
        self.feature = feature
        self.products = products
    }

    /// What an app tells its people, with a message in their language.
    public var serviceError: ServiceError { ServiceError(.unknown, reason: .notIncluded) }
}
