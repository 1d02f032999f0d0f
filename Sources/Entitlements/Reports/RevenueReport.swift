/// What products brought in, by month, store, product and currency, and what was given back, told
/// three ways (row 10.2): on the purchase's date, on the refund's date, and as it was booked.
///
/// Months are UTC's. Money is whole millionths of a currency's unit; currencies are never added,
/// and sums have 128 bits: no log is long enough to fill them. What counts is what had come to
/// pass at T, as known at R.
public struct RevenueReport: Sendable, Hashable {
    /// The lines by their key.
    public private(set) var lines: [Key: Line] = [:]

    /// What is counted together.
    public struct Key: Sendable, Hashable {
        /// The month of the purchase's start, the refund's date or the booking.
        public var month: CalendarMonth
        /// The store.
        public var store: String
        /// The store's product id.
        public var productID: String
        /// ISO 4217; nil where none was said.
        public var currencyCode: String?

        /// Makes a key.
        public init(
            month: CalendarMonth,
            store: String,
            productID: String,
            currencyCode: String?
        ) {
            self.month = month
            self.store = store
            self.productID = productID
            self.currencyCode = currencyCode
        }
    }

    /// The figures of one key.
    public struct Line: Sendable, Hashable {
        /// What started in this month.
        public var taken = Amount()
        /// What started in this month and said no price.
        public var unpriced = 0
        /// Given back at T of what started in this month, whenever that was.
        public var refundedOfPurchases = Amount()
        /// Given back in this month.
        public var refunded = Amount()
        /// Refunds that were put back in this month.
        public var reversed = Amount()
        /// What the sum of all months changed by through what became known in this month: taken.
        public var bookedTaken = Amount()
        /// Likewise given back.
        public var bookedRefunded = Amount()

        /// No figures.
        public init() {}
    }

    /// Transactions, their units and their money.
    public struct Amount: Sendable, Hashable {
        /// Transactions; negative where more were taken out of the books than put in.
        public var count = 0
        /// Their quantities, 1 where none is said.
        public var units: Int64 = 0
        /// Millionths of the currency's unit.
        public var micros: Int128 = 0

        /// Nothing.
        public init() {}
    }

    /// An empty report.
    public init() {}

    init(lines: [Key: Line]) { self.lines = lines }

    /// Adds what was counted of other purchases.
    public mutating func merge(_ other: RevenueReport) {
        lines.merge(other.lines) { left, right in
            var sum = left
            sum.taken += right.taken
            sum.unpriced += right.unpriced
            sum.refundedOfPurchases += right.refundedOfPurchases
            sum.refunded += right.refunded
            sum.reversed += right.reversed
            sum.bookedTaken += right.bookedTaken
            sum.bookedRefunded += right.bookedRefunded
            return sum
        }
    }
}

extension RevenueReport.Amount {
    static func += (left: inout Self, right: Self) {
        left.count += right.count
        left.units += right.units
        left.micros += right.micros
    }

    /// Adds a transaction, or takes it out again.
    mutating func add(_ micros: Int64, units: Int64 = 0, times: Int = 1) {
        count += times
        self.units += units * Int64(times)
        self.micros += Int128(micros) * Int128(times)
    }
}

// MARK: Answers

extension RevenueReport {
    private static let keyColumns = ["month", "store", "productId", "currencyCode"]

    private func table(
        _ columns: [String],
        _ isShown: (Line) -> Bool,
        _ cells: (Line) -> [JSONValue]
    ) -> ReportTable {
        let shown = lines.filter { isShown($0.value) }.sorted { $0.key < $1.key }
        return ReportTable(
            "rows",
            Self.keyColumns + columns,
            shown.map { key, line in
                [
                    .string(key.month.description), .string(key.store), .string(key.productID),
                    .optional(key.currencyCode),
                ] + cells(line)
            }
        )
    }

    /// The money: gross, refunds and net, three ways.
    public var answer: ReportAnswer {
        let columns = [
            "purchases", "units", "unpriced", "grossMicros", "refundedByPurchaseDateMicros",
            "netByPurchaseDateMicros", "refundedByRefundDateMicros", "netByRefundDateMicros",
            "bookedGrossMicros", "bookedRefundedMicros", "bookedNetMicros",
        ]
        let table = table(columns) {
            $0 != Line()
        } _: { line in
            let refunded = line.refunded.micros - line.reversed.micros
            return [
                .integer(line.taken.count), .integer(line.taken.units), .integer(line.unpriced),
                .integer(line.taken.micros), .integer(line.refundedOfPurchases.micros),
                .integer(line.taken.micros - line.refundedOfPurchases.micros),
                .integer(refunded), .integer(line.taken.micros - refunded),
                .integer(line.bookedTaken.micros), .integer(line.bookedRefunded.micros),
                .integer(line.bookedTaken.micros - line.bookedRefunded.micros),
            ]
        }
        return ReportAnswer(.revenue, tables: [table])
    }

    /// The refunds: how many and how much, three ways, and their share of the purchases.
    public var refundAnswer: ReportAnswer {
        let columns = [
            "purchases", "refundsByPurchaseDate", "refundedByPurchaseDateMicros", "refundShare",
            "refundsByRefundDate", "refundedByRefundDateMicros", "reversalsByDate",
            "reversedByDateMicros", "bookedRefunds", "bookedRefundedMicros",
        ]
        let table = table(columns) {
            $0.hasRefunds
        } _: { line in
            [
                .integer(line.taken.count), .integer(line.refundedOfPurchases.count),
                .integer(line.refundedOfPurchases.micros),
                .share(line.refundedOfPurchases.count, of: line.taken.count),
                .integer(line.refunded.count), .integer(line.refunded.micros),
                .integer(line.reversed.count), .integer(line.reversed.micros),
                .integer(line.bookedRefunded.count), .integer(line.bookedRefunded.micros),
            ]
        }
        return ReportAnswer(.refunds, tables: [table])
    }
}

extension RevenueReport.Line {
    fileprivate var hasRefunds: Bool {
        let none = RevenueReport.Amount()
        return refundedOfPurchases != none || refunded != none || reversed != none
            || bookedRefunded != none
    }
}

extension RevenueReport.Key: Comparable {
    /// By month, then by name.
    public static func < (left: Self, right: Self) -> Bool {
        if left.month != right.month { return left.month < right.month }
        return (left.store, left.productID, left.currencyCode ?? "")
            < (right.store, right.productID, right.currencyCode ?? "")
    }
}
