import Encodings
package import Entitlements
package import LedgerAPI

/// How products, amounts and instants are written on a customer's own pages.
package struct SoldText: Sendable {
    /// The language.
    package let language: Language
    /// Writes instants.
    package let instants: InstantText
    /// What a product is called that a store sells under an id.
    package let name: @Sendable (_ productID: String, _ store: String) -> String
    /// An amount of millionths of a currency's unit.
    package let amount: @Sendable (_ micros: Int64, _ currency: String) -> String

    /// Names how.
    package init(
        language: Language,
        zone: ResolvedZone,
        name: @escaping @Sendable (_ productID: String, _ store: String) -> String,
        amount: @escaping @Sendable (_ micros: Int64, _ currency: String) -> String
    ) {
        self.language = language
        instants = InstantText(language: language, zone: zone)
        self.name = name
        self.amount = amount
    }

    /// What a purchase's product is called.
    func name(_ productID: String?, of purchase: String) -> String {
        let store = String(purchase.prefix { $0 != "/" })
        return productID.map { name($0, store) } ?? Self.unnamed[language]
    }

    /// What was charged for a period; nil: its store does not say.
    func charged(_ period: PurchasePeriod) -> String? {
        guard let micros = period.priceMicros, let currency = period.currencyCode else {
            return period.offer == "trial" ? Self.nothing[language] : nil
        }
        return amount(micros, currency)
    }

    private static let unnamed = Sentence("Purchase", "購入", "購買項目")
    private static let nothing = Sentence("Free", "無料", "免費")
}
