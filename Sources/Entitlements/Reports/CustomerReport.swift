package import Encodings

/// Customers by tier, and what they own by status and product, at T (Model, "Questions").
///
/// Every customer who is known at R counts once; what is owned counts for its owner at T.
package struct CustomerReport: Sendable, Hashable {
    /// Customers of each tier, which is the highest that they have (K7).
    package private(set) var tiers: [Name: Int] = [:]
    /// Purchases of each status (P9).
    package private(set) var statuses: [PurchaseStatus: Owned] = [:]
    /// Purchases of each product and status.
    package private(set) var products: [Product: Owned] = [:]

    /// What a store sells under an id, and how it stands (P9's period; nil without one).
    package struct Product: Sendable, Hashable {
        /// The store of the name that the purchase is shown under.
        package var store: String?
        /// The store's product id.
        @Bytewise package var productID: String?
        /// The status of the last period that has started (P9).
        package var status: PurchaseStatus
    }

    /// Purchases, and how many customers own them.
    package struct Owned: Sendable, Hashable {
        /// Each customer once.
        package var customers = 0
        /// Each purchase once.
        package var purchases = 0
    }

    /// A report of nobody.
    package init() {}

    /// Counts a customer at T.
    ///
    /// Cost: linear in what unlocks something for them, and in their purchases' statements.
    package mutating func add(_ timeline: CustomerTimeline, at instant: Instant) {
        var reader = GateReader(timeline)
        let gates = reader.gates(at: instant)
        let tier = gates.catalog.map {
            timeline.catalogs.publications[$0].seen.catalog.tiers[gates.tier]
        }
        tiers[Name(tier ?? Catalog.freeTier), default: 0] += 1
        let owned = timeline.owned(at: instant).map { owned in
            Product(
                store: owned.timeline.store,
                productID: owned.timeline.period(at: instant)?.productID,
                status: owned.timeline.status(at: instant)
            )
        }
        for product in owned {
            products[product, default: Owned()].purchases += 1
            statuses[product.status, default: Owned()].purchases += 1
        }
        for product in Set(owned) { products[product, default: Owned()].customers += 1 }
        for status in Set(owned.map(\.status)) {
            statuses[status, default: Owned()].customers += 1
        }
    }

    /// Adds what was counted of others.
    package mutating func merge(_ other: CustomerReport) {
        tiers.merge(other.tiers, uniquingKeysWith: +)
        statuses.merge(other.statuses, uniquingKeysWith: Owned.sum)
        products.merge(other.products, uniquingKeysWith: Owned.sum)
    }
}

extension CustomerReport.Owned {
    fileprivate static func sum(_ left: Self, _ right: Self) -> Self {
        Self(
            customers: left.customers + right.customers,
            purchases: left.purchases + right.purchases
        )
    }
}
