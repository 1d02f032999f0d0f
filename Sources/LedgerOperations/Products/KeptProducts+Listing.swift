import Encodings
package import Entitlements
package import LedgerAPI

extension KeptProducts {
    /// All that is kept, each product with what a catalog opens by it (row 1.2).
    ///
    /// `catalog`: the one in force; nil: there is none, and nothing is opened. `source`: only what it told;
    /// nil: what all told.
    ///
    /// Cost: kept products times those of the catalog.
    ///
    /// - Throws: `FileFault` where the system does not tell of a file.
    package func listing(
        _ catalog: Catalog?,
        only source: ProductSource?,
        _ view: View
    ) throws -> ProductsAnswer {
        let sources = try current().filter { source == nil || $0.source == source }
        let map = catalog.map { GateMap($0) }
        let told = sources.compactMap(\.loaded.document).flatMap { document in
            document.products.map { product in
                let sold = product.names.lazy
                    .compactMap { catalog?.product($0, in: product.store) }.first
                let opened = sold.flatMap { map?.products[$0.id] }
                return ProductsAnswer.Product(
                    productID: sold?.id,
                    tier: opened?.tier,
                    features: opened?.features ?? [],
                    metadata: ProductMetadata(product, of: document, view)
                )
            }
        }
        let known = Set(texts: told.compactMap(\.productID))
        return ProductsAnswer(
            at: view.now,
            sources: sources.map { ProductsAnswer.Source($0.source, $0.loaded, view) },
            products: told,
            offerings: sources.compactMap(\.loaded.document).flatMap(\.offerings),
            untold: (catalog?.products ?? []).map(\.id).filter { !known.contains($0) }
        )
    }
}

extension ProductsAnswer.Source {
    fileprivate init(
        _ source: ProductSource,
        _ loaded: KeptProducts.Loaded,
        _ view: KeptProducts.View
    ) {
        let document = loaded.document
        self.init(
            source: source,
            origin: document?.origin,
            loadedAt: document?.loadedAt,
            ageSeconds: document?.ageSeconds(at: view.now),
            products: document?.products.count ?? 0,
            passedOver: document?.passedOver ?? 0,
            isDamaged: loaded.isDamaged,
            fault: loaded.fault
        )
    }
}
