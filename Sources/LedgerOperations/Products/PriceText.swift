package import Entitlements
import Foundation

/// Prices as people write them, by the rules for languages and currencies that come with Foundation
/// (Unicode CLDR): what it gives may be another text in another version, so programs read the numbers.
package enum PriceText {
    private static let fallback = "en"

    /// An amount in a language; nil: in English.
    static func text(_ price: StoreProduct.Price, in tag: LanguageTag?) -> String {
        text(micros: price.micros, price.currency, in: tag)
    }

    /// An amount of millionths of a currency's unit in a language; nil: in English.
    package static func text(micros: Int64, _ currency: String, in tag: LanguageTag?) -> String {
        let style = Decimal.FormatStyle.Currency(
            code: currency,
            locale: Locale(identifier: tag?.text ?? fallback)
        )
        return style.format(Decimal(micros) / 1_000_000)
    }
}
