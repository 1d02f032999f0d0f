package import Encodings

/// Compares what customers have at one instant in two environments: the recorded one, and one with other
/// catalogs (row Z3).
///
/// What the catalogs in force list is looked up once, not for each customer.
package struct AccessComparison: Sendable {
    /// The effective instant that is asked about (T).
    package let at: Instant
    /// Every feature that either catalog in force lists, by id.
    private let features: [Feature]

    /// A feature by its places in the two catalogs; nil: it is not listed.
    private struct Feature {
        var id: String
        var before: Int?
        var after: Int?
    }

    /// Compares at T, by the catalogs of both environments.
    package init(before: CatalogHistory, after: CatalogHistory, at instant: Instant) {
        at = instant
        let (before, after) = (before.catalog(at: instant), after.catalog(at: instant))
        let ids = Set(texts: [before, after].flatMap { $0?.features.map(\.id) ?? [] })
        features = ids.texts.map {
            Feature(id: $0, before: before?.featureIndex($0), after: after?.featureIndex($0))
        }
    }

    /// What one customer gains and loses.
    ///
    /// `before` and `after`: the customer's timelines under the catalogs of the two environments.
    package func change(
        from before: CustomerTimeline,
        to after: CustomerTimeline
    ) -> AccessChange {
        let old = Side(before, at: at)
        let new = Side(after, at: at)
        var change = AccessChange(
            tierBefore: old.tier,
            tierAfter: new.tier,
            products: held(before, after)
        )
        for feature in features {
            switch (old.isAllowed(feature.before), new.isAllowed(feature.after)) {
            case (false, true): change.gains.append(new.feature(feature.id, feature.after))
            case (true, false): change.losses.append(old.feature(feature.id, feature.before))
            default: break
            }
        }
        return change
    }

    /// The products that give access at T in either environment, each once.
    private func held(_ timelines: CustomerTimeline...) -> [AccessChange.Product] {
        var products: [AccessChange.Product] = []
        for timeline in timelines {
            for stretch in timeline.stretches where stretch.interval.contains(at) {
                guard case .product(let right) = stretch.right else { continue }
                let product = AccessChange.Product(store: right.store, productID: right.productID)
                if !products.contains(product) { products.append(product) }
            }
        }
        return products
    }

    /// One customer in one environment.
    private struct Side {
        let reader: GateReader
        let gates: Gates
        let catalog: Catalog?

        init(_ timeline: CustomerTimeline, at instant: Instant) {
            var reader = GateReader(timeline)
            gates = reader.gates(at: instant)
            self.reader = reader
            catalog = gates.catalog.map { timeline.catalogs.publications[$0].catalog }
        }

        var tier: String { catalog?.tiers[gates.tier] ?? Catalog.freeTier }

        func isAllowed(_ index: Int?) -> Bool {
            guard let index, let catalog else { return false }
            return gates.isAllowed(feature: index, in: catalog)
        }

        func feature(_ id: String, _ index: Int?) -> AccessChange.Feature {
            guard let index, let catalog else {
                return AccessChange.Feature(id: id, reason: .none, sources: [])
            }
            return AccessChange.Feature(
                id: id,
                reason: reader.reason(gates, feature: index, in: catalog),
                sources: gates.unlocks(feature: index).map { reader.sources[$0.source] }
            )
        }
    }
}

/// What one customer gains and loses at an instant.
package struct AccessChange: Sendable {
    /// K7 in the recorded environment.
    package var tierBefore: String
    /// K7 in the other one.
    package var tierAfter: String
    /// What gives access in either environment.
    package var products: [Product]
    /// What the other environment allows and the recorded one does not, by id.
    package var gains: [Feature] = []
    /// What the recorded environment allows and the other one does not, by id.
    package var losses: [Feature] = []

    /// A product as a store names it.
    package struct Product: Sendable, Hashable {
        /// The store.
        package var store: String
        /// The store's product id.
        @Bytewise package var productID: String
    }

    /// A feature in the environment that allows it.
    package struct Feature: Sendable, Hashable {
        /// Its id.
        package var id: String
        /// Why it is allowed there.
        package var reason: AccessReason
        /// What unlocks it there.
        package var sources: [AccessSource]
    }
}
