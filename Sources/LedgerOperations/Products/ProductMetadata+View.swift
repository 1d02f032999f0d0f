import Entitlements
import LedgerAPI

extension ProductMetadata {
    /// What a store says of a product, in one language and country.
    init(_ product: StoreProduct, of document: ProductDocument, _ view: KeptProducts.View) {
        let text = product.text(for: view.locale)
        self.init(
            source: document.source,
            loadedAt: document.loadedAt,
            ageSeconds: document.ageSeconds(at: view.now),
            store: product.store,
            storeProductID: product.id,
            plan: product.plan,
            kind: product.kind,
            period: product.period,
            group: product.group,
            locale: text?.locale,
            name: text?.name,
            description: text?.description,
            price: Price(product.prices, view),
            offers: product.offers.map { offer in
                Offer(
                    id: offer.id,
                    kind: offer.kind,
                    mode: offer.mode,
                    period: offer.period,
                    count: offer.count,
                    price: Price(offer.prices, view)
                )
            }
        )
    }
}

extension ProductMetadata.Price {
    /// The price that is asked for; nil: there is none.
    fileprivate init?(_ prices: [StoreProduct.Price], _ view: KeptProducts.View) {
        guard let price = prices.price(in: view.storefront) else { return nil }
        self.init(
            storefront: price.storefront,
            micros: price.micros,
            currency: price.currency,
            text: PriceText.text(price, in: view.locale)
        )
    }
}

extension ProductDocument {
    /// Seconds since it was loaded; 0 for a clock that went back since.
    func ageSeconds(at now: Instant) -> Int64 {
        let (age, overflow) = now.milliseconds.subtractingReportingOverflow(loadedAt.milliseconds)
        return overflow ? 0 : max(0, age) / 1000
    }
}
