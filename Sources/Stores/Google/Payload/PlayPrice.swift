import Entitlements

/// An amount as the Developer API writes it: whole units as text, and billionths beside them
/// (developers.google.com/android-publisher/api-ref/rest/v3/Money), exactly (Stores, rule 8).
struct PlayPrice: Hashable, Sendable {
    /// Millionths of the currency's unit.
    let micros: Int64
    /// ISO 4217.
    let currencyCode: String

    /// Nil where the amount is not usable: a purchase is not lost for its price.
    init?(_ money: PlayObject?) {
        guard let money, let currencyCode = CurrencyCode.of(money.text("currencyCode")) else {
            return nil
        }
        // Units are absent where there are none, and billionths likewise.
        let units = money["units"] == nil ? 0 : money.integer("units")
        let nanos = money["nanos"] == nil ? 0 : money.integer("nanos")
        guard let units, let nanos, (0..<1_000_000_000).contains(nanos), units >= 0 else {
            return nil
        }
        let (whole, overflow) = units.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow, whole <= FieldShape.largestPrice - 1_000_000 else { return nil }
        // Prices have two or three decimals: nothing is cut off.
        // Fits: the sum is at most the largest price.
        self.init(micros: whole + nanos / 1000, currencyCode: currencyCode)
    }

    private init(micros: Int64, currencyCode: String) {
        self.micros = micros
        self.currencyCode = currencyCode
    }

    /// What a free trial of it costs.
    var free: PlayPrice { PlayPrice(micros: 0, currencyCode: currencyCode) }
}
