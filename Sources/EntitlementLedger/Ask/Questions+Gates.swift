import Encodings
package import Entitlements
import EventLog
package import LedgerAPI

/// Whose eyes a catalog is read with: variants override gates and offerings (K8).
package struct CatalogViewer: Sendable, Hashable {
    /// Any of the customer's names.
    package var customer: CustomerID
    /// The environment that the customer is of.
    package var environment: StoreEnvironment

    /// Makes a viewer.
    package init(customer: CustomerID, environment: StoreEnvironment) {
        self.customer = customer
        self.environment = environment
    }
}

extension Questions {
    /// The gates of the catalog in force at a point; nil: there is none (K1).
    ///
    /// `viewer`: nil: as the document says, without any variant.
    package func gateMap(at point: BitemporalPoint, for viewer: CatalogViewer?) throws -> GateMap? {
        try seenCatalog(at: point, for: viewer).map {
            GateMap($0.catalog, validUntil: $0.validUntil)
        }
    }

    /// What a paywall shows; nil: there is no catalog (rows 4.4, 1.1, B7).
    ///
    /// `feature`: whose closed gate leads there; nil: at large.
    ///
    /// `locale`: nil: English.
    ///
    /// Cost: linear in the catalog and in what is shown, beside that of ``gateMap(at:for:)``.
    package func offering(
        for feature: String?,
        locale: LanguageTag?,
        at point: BitemporalPoint,
        for viewer: CatalogViewer?
    ) throws -> OfferingAnswer? {
        guard let seen = try seenCatalog(at: point, for: viewer),
            let document = try event(at: seen.sequence)?.event.data.document
        else { return nil }
        let shown = Offering.products(
            for: feature,
            of: Offering.all(in: document, seen.catalog) { seen.positions[$0] ?? 0 },
            seen.catalog
        )
        let map = GateMap(seen.catalog)
        // The document is the catalog's: what stands at a place of one is that of the other.
        let sold = zip(seen.catalog.products, document["products"]?.array ?? [])
        let products = Dictionary(
            sold.map { (Name($0.id), ($0, ProductText(of: $1, for: locale))) },
            uniquingKeysWith: { first, _ in first }
        )
        return OfferingAnswer(
            feature: feature,
            at: point.at,
            validUntil: seen.validUntil,
            products: shown.compactMap { id in
                guard let (product, text) = products[id], let sold = map.products[id]
                else { return nil }
                return OfferingAnswer.Product(product, sold, text)
            }
        )
    }

    private struct SeenCatalog {
        var catalog: Catalog
        var sequence: UInt64
        var positions: [Name: UInt64] = [:]
        /// When the next one comes into force (Z15): who somebody is, and so where they stand in an
        /// experiment (K8), does not change with time.
        var validUntil: Instant?
    }

    private func seenCatalog(
        at point: BitemporalPoint,
        for viewer: CatalogViewer?
    ) throws -> SeenCatalog? {
        let size = try prefix(knownAt: point.knownAt)
        var history = try catalogHistory(size: size)
        guard let index = history.index(at: point.at) else { return nil }
        var positions: [Name: UInt64] = [:]
        if let viewer {
            let timeline = try timeline(
                of: viewer.customer,
                environment: viewer.environment,
                size: size
            )
            positions = try self.positions(
                of: timeline.customer,
                asked: viewer.customer,
                in: history
            )
            history = timeline.catalogs
        }
        let publication = history.publications[index]
        return SeenCatalog(
            catalog: publication.catalog,
            sequence: publication.sequence,
            positions: positions,
            validUntil: history.next(after: point.at)
        )
    }
}

extension OfferingAnswer.Product {
    fileprivate init(
        _ product: Catalog.Product,
        _ sold: GateMap.Product,
        _ text: ProductText?
    ) {
        self.init(
            id: product.id,
            kind: product.kind,
            tier: sold.tier,
            features: sold.features,
            stores: product.stores.sorted { $0.key.precedes($1.key) }.map {
                Keyed($0.key, $0.value)
            },
            locale: text?.locale,
            text: text?.words ?? .null
        )
    }
}
