import Encodings
import Entitlements

/// What was paid, exactly: RevenueCat sends decimals (Stores, rule 8), negative on refunds.
struct RevenueCatPrice: Hashable, Sendable {
    /// Millionths of the currency's unit.
    let micros: Int64
    /// ISO 4217.
    let currencyCode: String

    /// The price in the customer's currency, else the one in US dollars; nil if neither is
    /// usable: a purchase is not lost for its price.
    init?(of event: RevenueCatEvent) {
        if let price = RevenueCatPrice(event["price_in_purchased_currency"], event.text("currency"))
        {
            self = price
        } else if let micros = Self.micros(event["price"]) {
            self.init(micros: micros, currencyCode: "USD")
        } else {
            return nil
        }
    }

    /// An amount in a currency; nil if either is not usable.
    init?(_ amount: JSONValue?, _ currency: String?) {
        guard let micros = Self.micros(amount), let currencyCode = CurrencyCode.of(currency) else {
            return nil
        }
        self.init(micros: micros, currencyCode: currencyCode)
    }

    private init(micros: Int64, currencyCode: String) {
        self.micros = micros
        self.currencyCode = currencyCode
    }

    /// The amount given back, positive; nil unless the price is negative, as it is on refunds:
    /// the period's own price then says more (a refunded trial's is zero too).
    var givenBack: RevenueCatPrice? {
        guard micros < 0 else { return nil }
        return RevenueCatPrice(micros: -micros, currencyCode: currencyCode)
    }

    private static func micros(_ json: JSONValue?) -> Int64? {
        guard case .number(let text) = json, let micros = ExactDecimal(jsonNumber: text).micros,
            (-FieldShape.largestPrice...FieldShape.largestPrice).contains(micros)
        else { return nil }
        return micros
    }
}
