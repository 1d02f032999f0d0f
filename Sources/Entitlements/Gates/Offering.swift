package import Encodings

/// What a paywall shows: products in order, for one feature or for all.
package struct Offering: Sendable, Hashable {
    /// The feature whose closed gate leads here; nil: any.
    package let feature: String?
    /// Ids of products, in the order in which they are shown.
    package let products: [String]

    /// The offerings of a checked catalog document as a customer sees them (K8): those of the last
    /// of their variants that says any, in the order of the experiments, else the document's.
    ///
    /// `catalog`: the same document, read.
    ///
    /// `position`: for an experiment's id, where the customer stands.
    package static func all(
        in document: JSONValue,
        _ catalog: Catalog,
        position: (_ experiment: String) -> UInt64
    ) -> [Offering] {
        var offerings = document["offerings"]
        for experiment in catalog.experiments {
            let variant = experiment.variant(at: position(experiment.id))?.id
            let variants = document["experiments"]?.array?
                .first { experiment.id.isSame(as: $0["id"]?.string) }?["variants"]?.array
            let overrides = variants?.first { variant?.isSame(as: $0["id"]?.string) ?? false }?[
                "overrides"
            ]
            if let other = overrides?["offerings"], !other.isNull { offerings = other }
        }
        return (offerings?.array ?? []).map { offering in
            Offering(
                feature: offering["feature"]?.string,
                products: (offering["products"]?.array ?? []).compactMap(\.string)
            )
        }
    }

    /// What to show where a feature's gate is closed (row 4.4), or, without a feature, at large.
    ///
    /// The first offering of the feature; else what opens the gate of the first general one; else
    /// all that opens it. Without a feature: the first general offering, else every product.
    package static func products(
        for feature: String?,
        of offerings: [Offering],
        _ catalog: Catalog
    ) -> [String] {
        let general = offerings.first { $0.feature == nil }?.products
        guard let feature else { return general ?? catalog.products.map(\.id) }
        if let own = offerings.first(where: { feature.isSame(as: $0.feature) }) {
            return own.products
        }
        let openers = GateMap(catalog).products(opening: feature)
        let shown = general?.filter(openers.holds) ?? []
        return shown.isEmpty ? openers : shown
    }
}
