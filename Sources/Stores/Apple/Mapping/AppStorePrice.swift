import Entitlements

/// What was paid, exactly: the App Store gives thousandths of the currency's unit, for every
/// currency (Stores, rule 8).
struct AppStorePrice: Hashable, Sendable {
    /// Millionths of the currency's unit.
    let micros: Int64
    /// ISO 4217.
    let currencyCode: String

    private static let microsPerMilliunit: Int64 = 1000
    /// `revocationPercentage` of all: it counts thousandths of a percent.
    private static let whole: Int64 = 100_000

    /// The transaction's price; nil if it is not usable: a purchase is not lost for its price.
    init?(of transaction: AppStoreTransaction) {
        guard let milliunits = transaction.payload.integer("price"),
            let currencyCode = CurrencyCode.of(transaction.payload.text("currency"))
        else { return nil }
        let (micros, overflow) = milliunits.multipliedReportingOverflow(
            by: Self.microsPerMilliunit
        )
        guard !overflow,
            (-FieldShape.largestPrice...FieldShape.largestPrice).contains(micros)
        else { return nil }
        self.micros = micros
        self.currencyCode = currencyCode
    }

    /// The amount given back, positive; nil unless it is said to be a part: the period's own
    /// price then says it.
    init?(givenBackBy transaction: AppStoreTransaction) {
        guard let share = transaction.payload.integer("revocationPercentage"),
            (0..<Self.whole).contains(share), let price = AppStorePrice(of: transaction),
            price.micros >= 0
        else { return nil }
        // In two steps, for the product of both may not fit; to the nearest.
        let (units, rest) = price.micros.quotientAndRemainder(dividingBy: Self.whole)
        // Fits: the share is below the whole, so the sum is below the price.
        micros = units * share + (rest * share + Self.whole / 2) / Self.whole
        currencyCode = price.currencyCode
    }
}
