package import Encodings

/// What opens which gate: a closed map that an app can hold and ask without I/O (rows CL6, B6).
///
/// Made of one catalog as a customer sees it (K8). It answers for what somebody holds now (K2, K5);
/// time and what was bought under older catalogs (K3) are the ledger's to answer.
public struct GateMap: Sendable, Hashable {
    /// Names of the tiers, lowest first; the first is `free`.
    public let tiers: [String]
    /// By id.
    package let features: [Name: Feature]
    /// By id.
    package let products: [Name: Product]
    /// When the next catalog comes into force (Z15); nil: none does, as far as is known, or the map
    /// is of a document alone.
    package let validUntil: Instant?

    /// A gate.
    package struct Feature: Sendable, Hashable {
        /// The lowest tier that opens it; `free` is open to all (K5).
        package let level: String
        /// Ids of the products that open it, in the catalog's order: what to sell where it is
        /// closed.
        package let products: [String]
    }

    /// Something sold.
    package struct Product: Sendable, Hashable {
        /// Its kind.
        package let kind: ProductKind
        /// The tier that counts for its owner (K7); nil: none.
        package let tier: String?
        /// Ids of the features that it opens beyond the free ones, in the catalog's order.
        package let features: [String]
        /// The product ids of stores that say their own, in the catalog's order (K9).
        package var stores: [Name: [String]] = [:]
    }

    /// Reads a catalog's gates.
    ///
    /// `validUntil`: when the next catalog comes into force; nil: none does. Cost: features times
    /// products.
    package init(_ catalog: Catalog, validUntil: Instant? = nil) {
        self.validUntil = validUntil
        tiers = catalog.tiers
        var sellers = Array(repeating: [String](), count: catalog.features.count)
        var products: [Name: Product] = [:]
        for product in catalog.products {
            let unlocked = catalog.unlocked(by: product.unlocks).filter {
                catalog.features[$0].level > 0
            }
            // A consumable gives no access (P8).
            let opens = product.kind == .consumable ? [] : unlocked
            for feature in opens { sellers[feature].append(product.id) }
            products[product.id] = Product(
                kind: product.kind,
                tier: product.kind == .consumable
                    ? nil : catalog.countedTier(of: product.unlocks).map { catalog.tiers[$0] },
                features: opens.map { catalog.features[$0].id },
                stores: Dictionary(
                    uniqueKeysWithValues: product.stores.map { (Name($0.key), $0.value) }
                )
            )
        }
        self.products = products
        features = Dictionary(
            uniqueKeysWithValues: zip(catalog.features, sellers).map { feature, products in
                (Name(feature.id), Feature(level: catalog.tiers[feature.level], products: products))
            }
        )
    }

    /// Whether a gate is open to whoever holds some products (K2, K5).
    ///
    /// A feature that the map does not list is closed to all.
    package func isOpen(_ feature: String, to held: Set<Name>) -> Bool {
        guard let gate = features[feature] else { return false }
        return gate.level == Catalog.freeTier || gate.products.contains { held.contains($0) }
    }

    /// The id of the product that a store sells under an id of its own (K9); nil: none.
    ///
    /// Cost: linear in the products.
    public func product(soldAs storeProductID: String, in store: String) -> String? {
        products.first { id, product in
            product.ids(of: id, in: store).holds(storeProductID)
        }?.key.text
    }

    /// The ids under which a store sells a product of the catalog: what the store is asked for (K9);
    /// none where the map does not list it.
    public func storeProducts(of productID: String, in store: String) -> [String] {
        products[productID]?.ids(of: Name(productID), in: store) ?? []
    }

    /// Ids of the features of one level, ascending.
    package func features(ofLevel level: String) -> [String] {
        features.filter { $0.value.level.isSame(as: level) }.keys.sorted().map(\.text)
    }

    /// Ids of the products that open a gate, in the catalog's order; empty for one that is free or
    /// unknown (row 4.4).
    public func products(opening feature: String) -> [String] {
        features[feature].map { $0.level == Catalog.freeTier ? [] : $0.products } ?? []
    }
}

extension GateMap.Product {
    /// The ids of a store's own, else the catalog's.
    fileprivate func ids(of id: Name, in store: String) -> [String] {
        let keys = AppleStore.keys(of: store)
        let own = stores[keys.first]
        let more = keys.second.flatMap { stores[$0] }
        guard own != nil || more != nil else { return [id.text] }
        return (own ?? []) + (more ?? [])
    }
}
