import Encodings

/// What is sold and what it unlocks: a published catalog document, read (Model, "Catalog and
/// access").
///
/// Texts, prices and a product's `trial` are presentation only and stay in the document.
public struct Catalog: Sendable, Hashable {
    /// Names of the tiers, lowest first; the first is `free`.
    public var tiers: [String]
    /// What can be gated.
    public var features: [Feature]
    /// What is sold.
    public var products: [Product]
    /// Trials that the app gives.
    public var trials: [Trial]
    /// Experiments whose variants override gates.
    public var experiments: [Experiment]
    /// Rules of the whole catalog.
    public var policy: Policy
    /// Named time zones, resolved at publish (K10).
    public var zones: [String: ResolvedZone]

    /// A thing that can be gated.
    public struct Feature: Sendable, Hashable {
        /// Its id.
        public var id: String
        /// Index of its tier; the highest unless the document says otherwise.
        public var level: Int
        /// Limits by the index of the customer's tier.
        public var limits: [Int: Limit]
    }

    /// A limit on the use of a feature.
    public struct Limit: Sendable, Hashable {
        /// How much one use may take.
        public var perUse: PerUse?
        /// How many uses a window may hold.
        public var perPeriod: PerPeriod?
    }

    /// An amount for each use; in seconds it is a lease (C5).
    public struct PerUse: Sendable, Hashable {
        /// The largest amount of one use.
        public var amount: Int64
        /// The unit, such as `seconds`.
        public var unit: String?
    }

    /// A count of uses for each calendar window.
    public struct PerPeriod: Sendable, Hashable {
        /// The largest count.
        public var count: Int64
        /// The window's length.
        public var period: UsagePeriod
        /// The zone whose calendar counts.
        public var timeZone: String
    }

    /// Something sold.
    public struct Product: Sendable, Hashable {
        /// Its id.
        public var id: String
        /// The store's product ids, for stores that say their own (K9).
        public var stores: [String: [String]]
        /// The kind that the document names; the fold takes a period's own kind (P1).
        public var kind: ProductKind
        /// What it unlocks.
        public var unlocks: Unlocks
    }

    /// What a product or trial unlocks.
    public struct Unlocks: Sendable, Hashable {
        /// Feature ids.
        public var features: [String]
        /// Index of a tier.
        public var tier: Int?
        /// Whether it unlocks everything.
        public var all: Bool
    }

    /// A trial that the app gives once for each customer.
    public struct Trial: Sendable, Hashable {
        /// Its id.
        public var id: String
        /// Length in days of 86 400 000 ms.
        public var days: Int64
        /// What it unlocks.
        public var features: [String]
        /// The tier's name; it is read in the catalog in force (C4).
        public var tier: String?
    }

    /// Rules of the whole catalog.
    public struct Policy: Sendable, Hashable {
        /// Whether a second customer's claim is refused (the default) or moves the purchase.
        public var claim: ClaimPolicy
        /// Seconds that a period goes on behind its end, while its renewal may be on its way (P12).
        public var renewalLeewaySeconds: Int64
    }

    /// What a claim of another customer's purchase does (C1).
    public enum ClaimPolicy: String, CaseIterable, Sendable {
        case keep, transfer
    }

    /// The name of the lowest tier.
    public static let freeTier = "free"
}

extension Catalog {
    /// Index of a feature, nil where the catalog does not list it.
    public func featureIndex(_ id: String) -> Int? { features.firstIndex { $0.id.isSame(as: id) } }

    /// Index of a tier, nil where the catalog does not list it.
    public func tierIndex(_ name: String) -> Int? { tiers.firstIndex { $0.isSame(as: name) } }

    /// The product that a store sells under an id (K9).
    ///
    /// Cost: linear in the products.
    public func product(_ storeProductID: String, in store: String) -> Product? {
        products.first { product in
            guard let ids = product.stores[store] else {
                return product.id.isSame(as: storeProductID)
            }
            return ids.holds(storeProductID)
        }
    }

    /// Indices of the features that are unlocked, ascending (K2).
    ///
    /// Cost: linear in the features and in those that are named.
    public func unlocked(by unlocks: Unlocks) -> [Int] {
        let named = Set(texts: unlocks.features)
        return features.indices.filter { index in
            unlocks.all || unlocks.tier.map { features[index].level <= $0 } ?? false
                || !named.isEmpty && named.contains(features[index].id)
        }
    }

    /// Index of the tier that counts for K7: `all` is the highest.
    public func countedTier(of unlocks: Unlocks) -> Int? {
        unlocks.all ? tiers.count - 1 : unlocks.tier
    }
}
