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
        let standing = Standing(timeline, &reader, at: instant)
        tiers[Name(standing.tier), default: 0] += 1
        for product in standing.owned {
            products[product, default: Owned()].purchases += 1
            statuses[product.status, default: Owned()].purchases += 1
        }
        for product in Set(standing.owned) { products[product, default: Owned()].customers += 1 }
        for status in Set(standing.owned.map(\.status)) {
            statuses[status, default: Owned()].customers += 1
        }
    }

    /// A customer at an instant, as the report counts them.
    struct Standing: Hashable {
        /// The highest tier that they have (K7).
        @Bytewise var tier: String
        /// What they own, in the order of the purchases.
        var owned: [Product]

        /// Looks a customer up, who is the reader's.
        init(_ timeline: CustomerTimeline, _ reader: inout GateReader, at instant: Instant) {
            tier = timeline.tierName(reader.gates(at: instant))
            owned = timeline.owned(at: instant).map { owned in
                Product(
                    store: owned.timeline.store,
                    productID: owned.timeline.period(at: instant)?.productID,
                    status: owned.timeline.status(at: instant)
                )
            }
        }
    }

    /// A report of figures that were summed up.
    init(
        tiers: [Name: Int],
        statuses: [PurchaseStatus: Owned],
        products: [Product: Owned]
    ) {
        (self.tiers, self.statuses, self.products) = (tiers, statuses, products)
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
