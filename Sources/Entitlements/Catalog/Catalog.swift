import Encodings

/// What is sold and what it unlocks: a published catalog document, read (Model, "Catalog and
/// access").
///
/// Texts, prices and a product's `trial` are presentation only and stay in the document, but for the
/// titles of products, which explanations tell.
public struct Catalog: Sendable, Hashable {
    /// Names of the tiers, lowest first; the first is `free`.
    package var tiers: [String]
    /// What can be gated.
    package var features: [Feature]
    /// What is sold.
    package var products: [Product]
    /// Trials that the app gives.
    package var trials: [Trial]
    /// Experiments whose variants override gates.
    package var experiments: [Experiment]
    /// Rules of the whole catalog.
    package var policy: Policy
    /// Named time zones, resolved at publish (K10).
    package var zones: [String: ResolvedZone]

    /// A thing that can be gated.
    package struct Feature: Sendable, Hashable {
        /// Its id.
        package var id: String
        /// Index of its tier; the highest unless the document says otherwise.
        package var level: Int
        /// Limits by the index of the customer's tier.
        package var limits: [Int: Limit]
    }

    /// A limit on the use of a feature.
    package struct Limit: Sendable, Hashable {
        /// How much one use may take.
        package var perUse: PerUse?
        /// How many uses a window may hold.
        package var perPeriod: PerPeriod?
    }

    /// An amount for each use; in seconds it is a lease (C5).
    package struct PerUse: Sendable, Hashable {
        /// The largest amount of one use.
        package var amount: Int64
        /// The unit, such as `seconds`.
        package var unit: String?
    }

    /// A count of uses for each calendar window.
    package struct PerPeriod: Sendable, Hashable {
        /// The largest count.
        package var count: Int64
        /// The window's length.
        package var period: UsagePeriod
        /// The zone whose calendar counts.
        package var timeZone: String
    }

    /// Something sold.
    package struct Product: Sendable, Hashable {
        /// Its id.
        package var id: String
        /// The store's product ids, for stores that say their own (K9).
        package var stores: [String: [String]]
        /// The kind that the document names; the fold takes a period's own kind (P1).
        package var kind: ProductKind
        /// What it unlocks.
        package var unlocks: Unlocks
        /// How long one of no stated end lasts, where it does not renew (P2).
        package var duration: CatalogDuration?
        /// Its titles by language tag in lower case.
        var titles: [Name: String] = [:]
    }

    /// What a product or trial unlocks.
    package struct Unlocks: Sendable, Hashable {
        /// Feature ids.
        package var features: [String]
        /// Index of a tier.
        package var tier: Int?
        /// Whether it unlocks everything.
        package var all: Bool
    }

    /// A trial that the app gives once for each customer.
    package struct Trial: Sendable, Hashable {
        /// Its id.
        package var id: String
        /// Length in days of 86 400 000 ms.
        package var days: Int64
        /// What it unlocks.
        package var features: [String]
        /// The tier's name; it is read in the catalog in force (C4).
        package var tier: String?
    }

    /// Rules of the whole catalog.
    package struct Policy: Sendable, Hashable {
        /// Whether a second customer's claim is refused (the default) or moves the purchase.
        package var claim: ClaimPolicy
        /// Seconds that a period goes on behind its end, while its renewal may be on its way (P12).
        package var renewalLeewaySeconds: Int64
    }

    /// What a claim of another customer's purchase does (C1).
    package enum ClaimPolicy: String, CaseIterable, Sendable {
        case keep, transfer
    }

    /// The name of the lowest tier.
    package static let freeTier = "free"
}

extension Catalog {
    /// Index of a feature, nil where the catalog does not list it.
    package func featureIndex(_ id: String) -> Int? { features.firstIndex { $0.id.isSame(as: id) } }

    /// Index of a tier, nil where the catalog does not list it.
    package func tierIndex(_ name: String) -> Int? { tiers.firstIndex { $0.isSame(as: name) } }

    /// The product that a store sells under an id (K9).
    ///
    /// Cost: linear in the products.
    package func product(_ storeProductID: String, in store: String) -> Product? {
        let keys = AppleStore.keys(of: store)
        return products.first { product in
            let ids = product.stores[keys.first]
            let more = keys.second.flatMap { product.stores[$0] }
            guard ids != nil || more != nil else { return product.id.isSame(as: storeProductID) }
            return ids?.holds(storeProductID) ?? false || more?.holds(storeProductID) ?? false
        }
    }

    /// Indices of the features that are unlocked, ascending (K2).
    ///
    /// Cost: linear in the features and in those that are named.
    package func unlocked(by unlocks: Unlocks) -> [Int] {
        let named = Set(texts: unlocks.features)
        return features.indices.filter { index in
            unlocks.all || unlocks.tier.map { features[index].level <= $0 } ?? false
                || !named.isEmpty && named.contains(features[index].id)
        }
    }

    /// Index of the tier that counts for K7: `all` is the highest.
    package func countedTier(of unlocks: Unlocks) -> Int? {
        unlocks.all ? tiers.count - 1 : unlocks.tier
    }
}
