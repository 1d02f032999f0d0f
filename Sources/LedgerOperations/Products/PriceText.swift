import Entitlements
import Foundation

/// Prices as people write them, by the rules for languages and currencies that come with Foundation
/// (Unicode CLDR): what it gives may be another text in another version, so programs read the numbers.
enum PriceText {
    private static let fallback = "en"

    /// An amount in a language; nil: in English.
    static func text(_ price: StoreProduct.Price, in tag: LanguageTag?) -> String {
        let style = Decimal.FormatStyle.Currency(
            code: price.currency,
            locale: Locale(identifier: tag?.text ?? fallback)
        )
        return style.format(Decimal(price.micros) / 1_000_000)
    }
}
