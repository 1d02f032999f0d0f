package import Encodings

/// What products brought in, by month, store, product and currency, and what was given back, told
/// three ways (row 10.2): on the purchase's date, on the refund's date, and as it was booked.
///
/// Months are UTC's. Money is whole millionths of a currency's unit; currencies are never added,
/// and sums have 128 bits: no log is long enough to fill them. What counts is what had come to
/// pass at T, as known at R.
package struct RevenueReport: Sendable, Hashable {
    /// The lines by their key, day by day.
    package private(set) var lines: [Key: Line] = [:]

    /// What is counted together.
    package struct Key: Sendable, Hashable {
        /// The day of the purchase's start, the refund's date or the booking.
        package var day: CalendarDay
        /// The store.
        package var store: String
        /// The store's product id.
        @Bytewise package var productID: String
        /// ISO 4217; nil where none was said.
        package var currencyCode: String?

        /// Makes a key.
        package init(
            day: CalendarDay,
            store: String,
            productID: String,
            currencyCode: String?
        ) {
            self.day = day
            self.store = store
            self.productID = productID
            self.currencyCode = currencyCode
        }
    }

    /// The figures of one key.
    package struct Line: Sendable, Hashable {
        /// What started then.
        package var taken = Amount()
        /// What started then and said no price.
        package var unpriced = 0
        /// Given back at T of what started then, whenever that was.
        package var refundedOfPurchases = Amount()
        /// Given back then.
        package var refunded = Amount()
        /// Refunds that were put back then.
        package var reversed = Amount()
        /// What the sum of all days changed by through what became known then: taken.
        package var bookedTaken = Amount()
        /// What the refunds of all days changed by through what became known then.
        package var bookedRefunded = Amount()

        /// No figures.
        package init() {}
    }

    /// Transactions, their units and their money.
    package struct Amount: Sendable, Hashable {
        /// Transactions; negative where more were taken out of the books than put in.
        package var count = 0
        /// Their quantities, 1 where none is said.
        package var units: Int64 = 0
        /// Millionths of the currency's unit.
        package var micros: Int128 = 0

        /// Nothing.
        package init() {}
    }

    /// An empty report.
    package init() {}

    /// A report of lines that stand.
    package init(lines: [Key: Line]) { self.lines = lines }

    /// Adds what was counted of other purchases, or with -1 times takes it out.
    package mutating func merge(_ other: RevenueReport, times: Int = 1) {
        for (key, line) in other.lines {
            lines[key, default: Line()].add(line, times: times)
            if lines[key] == Line() { lines[key] = nil }
        }
    }

    /// The days that lie in a range of whole days.
    package func clipped(to range: Interval) -> RevenueReport {
        RevenueReport(lines: lines.filter { $0.key.day.isIn(range) })
    }

    /// The lines month by month: their day is the first.
    package var months: [Key: Line] {
        var months: [Key: Line] = [:]
        // There are many lines of few months.
        var firsts: [CalendarDay: CalendarDay] = [:]
        for (key, line) in lines {
            var key = key
            let first = firsts[key.day] ?? key.day.firstOfMonth
            firsts[key.day] = first
            key.day = first
            months[key, default: Line()].add(line, times: 1)
        }
        return months.filter { $0.value != Line() }
    }
}

extension RevenueReport.Line {
    fileprivate mutating func add(_ other: Self, times: Int) {
        taken.add(other.taken, times: times)
        unpriced += other.unpriced * times
        refundedOfPurchases.add(other.refundedOfPurchases, times: times)
        refunded.add(other.refunded, times: times)
        reversed.add(other.reversed, times: times)
        bookedTaken.add(other.bookedTaken, times: times)
        bookedRefunded.add(other.bookedRefunded, times: times)
    }
}

extension RevenueReport.Amount {
    fileprivate mutating func add(_ other: Self, times: Int) {
        count += other.count * times
        units += other.units * Int64(times)
        micros += other.micros * Int128(times)
    }

    /// Adds a transaction, or takes it out again.
    mutating func add(_ micros: Int64, units: Int64 = 0, times: Int = 1) {
        count += times
        self.units += units * Int64(times)
        self.micros += Int128(micros) * Int128(times)
    }
}

extension RevenueReport.Key: Comparable {
    /// By day, then by name.
    package static func < (left: Self, right: Self) -> Bool {
        if left.day != right.day { return left.day < right.day }
        return (left.store, Name(left.productID), left.currencyCode ?? "")
            < (right.store, Name(right.productID), right.currencyCode ?? "")
    }
}
