import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Presentation

extension LedgerService {
    /// How a customer's own pages write products, amounts and instants.
    ///
    /// A product is called what the catalog in force calls it, else what its store does, else by its id.
    ///
    /// Cost: linear in the catalog and in the products that are kept.
    func soldText(_ language: Language, at point: BitemporalPoint) throws -> SoldText {
        let tag = language.tag
        let size = try ledger.questions.size()
        let catalog = try ledger.questions.catalogHistory(size: size).catalog(at: point.at)
        let view = KeptProducts.View(locale: tag, storefront: nil, now: point.at)
        let told = try products?.listing(catalog, only: nil, view).products ?? []
        let names = Dictionary(
            told.compactMap { product in
                product.metadata.name.map {
                    (Name(product.metadata.store + "/" + product.metadata.storeProductID), $0)
                }
            },
            uniquingKeysWith: { first, _ in first }
        )
        return SoldText(
            language: language,
            zone: .utc,
            name: { id, store in
                catalog?.product(id, in: store)?.title(in: tag) ?? names[Name(store + "/" + id)]
                    ?? id
            },
            amount: { PriceText.text(micros: $0, $1, in: tag) }
        )
    }
}
