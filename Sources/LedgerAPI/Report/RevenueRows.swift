import Encodings
package import Entitlements

/// What a product brought in within a month, less refunds, told three ways (row 10.2); currencies
/// are never added.
public struct RevenueRow: ReportRow {
    /// Where it belongs.
    public var key: RevenueKey
    /// Transactions that started in this month: verified, and no family's.
    public var purchases: Int
    /// Their quantities.
    public var units: Int64
    /// Transactions that said no price.
    public var unpriced: Int
    /// What started in this month, in millionths of the currency's unit, as the others are.
    public var grossMicros: Int128
    /// Given back of what started in this month, whenever that was.
    public var refundedByPurchaseDateMicros: Int128
    /// Gross less that.
    public var netByPurchaseDateMicros: Int128
    /// Given back in this month, less refunds that were put back in it.
    public var refundedByRefundDateMicros: Int128
    /// Gross less that.
    public var netByRefundDateMicros: Int128
    /// What the sum of all months changed by through what became known in this month.
    public var bookedGrossMicros: Int128
    /// What the refunds of all months changed by through what became known in this month.
    public var bookedRefundedMicros: Int128
    /// Booked gross less that.
    public var bookedNetMicros: Int128

    /// The report whose row this is.
    package static var kind: ReportKind { .revenue }

    /// The sums of each currency.
    package static func totals(of rows: [Self]) -> [Self] {
        RevenueKey.byCurrency(rows, \.key).map { key, rows in
            func sum<Number: FixedWidthInteger>(_ figure: (Self) -> Number) -> Number {
                rows.reduce(0) { $0 + figure($1) }
            }
            return Self(
                key: key,
                purchases: sum(\.purchases),
                units: sum(\.units),
                unpriced: sum(\.unpriced),
                grossMicros: sum(\.grossMicros),
                refundedByPurchaseDateMicros: sum(\.refundedByPurchaseDateMicros),
                netByPurchaseDateMicros: sum(\.netByPurchaseDateMicros),
                refundedByRefundDateMicros: sum(\.refundedByRefundDateMicros),
                netByRefundDateMicros: sum(\.netByRefundDateMicros),
                bookedGrossMicros: sum(\.bookedGrossMicros),
                bookedRefundedMicros: sum(\.bookedRefundedMicros),
                bookedNetMicros: sum(\.bookedNetMicros)
            )
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "RevenueRow",
        "What products brought in, less refunds, told three ways; currencies are never added",
        Self.init
    ) {
        Field(inline: \.key)
        Field(
            "purchases",
            \.purchases,
            .count,
            "Transactions that started in this month: verified, and no family's"
        )
        Field("units", \.units, .integer)
        Field("unpriced", \.unpriced, .count, "Transactions that said no price")
        Field("grossMicros", \.grossMicros, .micros)
        Field(
            "refundedByPurchaseDateMicros",
            \.refundedByPurchaseDateMicros,
            .micros,
            "Given back of what started in this month, whenever that was"
        )
        Field("netByPurchaseDateMicros", \.netByPurchaseDateMicros, .micros)
        Field(
            "refundedByRefundDateMicros",
            \.refundedByRefundDateMicros,
            .micros,
            "Given back in this month, less refunds that were put back in it"
        )
        Field("netByRefundDateMicros", \.netByRefundDateMicros, .micros)
        Field(
            "bookedGrossMicros",
            \.bookedGrossMicros,
            .micros,
            "What the sum of all months changed by through what became known in this month"
        )
        Field("bookedRefundedMicros", \.bookedRefundedMicros, .micros)
        Field("bookedNetMicros", \.bookedNetMicros, .micros)
    }
}

/// What was given back of a product within a month, told three ways.
public struct RefundRow: ReportRow {
    /// Where it belongs.
    public var key: RevenueKey
    /// Transactions that started in this month: verified, and no family's.
    public var purchases: Int
    /// Transactions of this month that were given back, whenever that was.
    public var refundsByPurchaseDate: Int
    /// What was given back of them, in millionths of the currency's unit, as the others are.
    public var refundedByPurchaseDateMicros: Int128
    /// Their share of the transactions; nil: there were none.
    public var refundShare: Double?
    /// Refunds in this month.
    public var refundsByRefundDate: Int
    /// What they gave back.
    public var refundedByRefundDateMicros: Int128
    /// Refunds that were put back in this month.
    public var reversalsByDate: Int
    /// What they put back.
    public var reversedByDateMicros: Int128
    /// What the count of all months changed by through what became known in this month.
    public var bookedRefunds: Int
    /// What all refunded money changed by through what became known in this month.
    public var bookedRefundedMicros: Int128

    /// The report whose row this is.
    package static var kind: ReportKind { .refunds }

    /// The sums of each currency.
    package static func totals(of rows: [Self]) -> [Self] {
        RevenueKey.byCurrency(rows, \.key).map { key, rows in
            func sum<Number: FixedWidthInteger>(_ figure: (Self) -> Number) -> Number {
                rows.reduce(0) { $0 + figure($1) }
            }
            let (purchases, refunds) = (sum(\.purchases), sum(\.refundsByPurchaseDate))
            return Self(
                key: key,
                purchases: purchases,
                refundsByPurchaseDate: refunds,
                refundedByPurchaseDateMicros: sum(\.refundedByPurchaseDateMicros),
                refundShare: Proportion(successes: refunds, trials: purchases).rate,
                refundsByRefundDate: sum(\.refundsByRefundDate),
                refundedByRefundDateMicros: sum(\.refundedByRefundDateMicros),
                reversalsByDate: sum(\.reversalsByDate),
                reversedByDateMicros: sum(\.reversedByDateMicros),
                bookedRefunds: sum(\.bookedRefunds),
                bookedRefundedMicros: sum(\.bookedRefundedMicros)
            )
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("RefundRow", "Refunds, told three ways", Self.init) {
        Field(inline: \.key)
        Field(
            "purchases",
            \.purchases,
            .count,
            "Transactions that started in this month: verified, and no family's"
        )
        Field("refundsByPurchaseDate", \.refundsByPurchaseDate, .count)
        Field("refundedByPurchaseDateMicros", \.refundedByPurchaseDateMicros, .micros)
        Field("refundShare", \.refundShare, .decimal, "refundsByPurchaseDate of purchases")
        Field("refundsByRefundDate", \.refundsByRefundDate, .count)
        Field("refundedByRefundDateMicros", \.refundedByRefundDateMicros, .micros)
        Field("reversalsByDate", \.reversalsByDate, .count)
        Field("reversedByDateMicros", \.reversedByDateMicros, .micros)
        Field("bookedRefunds", \.bookedRefunds, .integer)
        Field("bookedRefundedMicros", \.bookedRefundedMicros, .micros)
    }
}

/// A product of a store in a month of UTC, in one currency.
public struct RevenueKey: Described {
    /// `YYYY-MM`; empty in a sum.
    public var month: String
    /// The store; empty in a sum.
    public var store: String
    /// The store's product id; empty in a sum.
    public var productID: String
    /// ISO 4217; nil: none was said.
    public var currencyCode: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("RevenueKey", "A product in a month", Self.init) {
        Field("month", \.month, .text(.pattern("^[0-9]{4}-[0-9]{2}$")), "A month of UTC")
        Field("store", \.store, .text(.common(.store)))
        Field("productId", \.productID, .name)
        Field(
            "currencyCode",
            \.currencyCode,
            .orNull(.text(.field(.currency))),
            "ISO 4217; null where none was said"
        )
    }
}

extension RevenueReport {
    /// A row for each month, store, product and currency, in that order.
    package var rows: [RevenueRow] {
        sorted.map { key, line in
            let refunded = line.refunded.micros - line.reversed.micros
            return RevenueRow(
                key: RevenueKey(key),
                purchases: line.taken.count,
                units: line.taken.units,
                unpriced: line.unpriced,
                grossMicros: line.taken.micros,
                refundedByPurchaseDateMicros: line.refundedOfPurchases.micros,
                netByPurchaseDateMicros: line.taken.micros - line.refundedOfPurchases.micros,
                refundedByRefundDateMicros: refunded,
                netByRefundDateMicros: line.taken.micros - refunded,
                bookedGrossMicros: line.bookedTaken.micros,
                bookedRefundedMicros: line.bookedRefunded.micros,
                bookedNetMicros: line.bookedTaken.micros - line.bookedRefunded.micros
            )
        }
    }

    /// The refunds of each of these, also where there are none: their share is of all purchases.
    package var refundRows: [RefundRow] {
        sorted.map { key, line in
            RefundRow(
                key: RevenueKey(key),
                purchases: line.taken.count,
                refundsByPurchaseDate: line.refundedOfPurchases.count,
                refundedByPurchaseDateMicros: line.refundedOfPurchases.micros,
                refundShare: Proportion(
                    successes: line.refundedOfPurchases.count,
                    trials: line.taken.count
                ).rate,
                refundsByRefundDate: line.refunded.count,
                refundedByRefundDateMicros: line.refunded.micros,
                reversalsByDate: line.reversed.count,
                reversedByDateMicros: line.reversed.micros,
                bookedRefunds: line.bookedRefunded.count,
                bookedRefundedMicros: line.bookedRefunded.micros
            )
        }
    }

    private var sorted: [(key: Key, value: Line)] {
        months.filter { $0.value != Line() }.sorted { $0.key < $1.key }
    }
}

extension RevenueKey {
    /// Rows by their currency, in the order of its code, each under the key of their sum.
    fileprivate static func byCurrency<Row>(
        _ rows: [Row],
        _ key: (Row) -> Self
    ) -> [(key: Self, rows: [Row])] {
        Dictionary(grouping: rows) { Name(key($0).currencyCode ?? "") }
            .sorted { $0.key < $1.key }.map { code, rows in
                (
                    Self(
                        month: "",
                        store: "",
                        productID: "",
                        currencyCode: code.text.isEmpty ? nil : code.text
                    ),
                    rows
                )
            }
    }

    fileprivate init(_ key: RevenueReport.Key) {
        self.init(
            month: key.day.month,
            store: key.store,
            productID: key.productID,
            currencyCode: key.currencyCode
        )
    }
}

extension Form<Int128> {
    /// Exact millionths of the currency's unit; they may have more than 64 bits.
    static var micros: Self { integer(.sum) }
}
