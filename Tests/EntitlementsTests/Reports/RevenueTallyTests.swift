import LedgerAPI
import Testing

@testable import Entitlements

/// What transactions bring in, rule by rule (row 10.2).
struct `Revenue` {
    private static let day = Instant.millisecondsPerDay
    /// 2026-01-10T00:00:00Z.
    private static let start = Instant(milliseconds: 1_768_003_200_000)

    /// A statement, days after the start, recorded some days later.
    private struct Told {
        var kind: EventKind
        var day: Int64
        var recorded: Int64?
        var transaction: UInt64? = 1
        var price: Int64?
        var currency: String?
        var product = "pro"
        var kindOfProduct = ProductKind.autoRenewable
        var quantity: Int64?
        var isFamilyShared = false
        var observed: Int64?
    }

    private static func bought(
        _ day: Int64,
        price: Int64? = 100,
        _ transaction: UInt64 = 1
    ) -> Told {
        Told(
            kind: .purchaseCompleted,
            day: day,
            transaction: transaction,
            price: price,
            currency: "EUR"
        )
    }

    private static let passed = Told(kind: .verificationPassed, day: 0, transaction: nil)

    private static func report(
        _ told: [Told],
        at: Int64 = 1000,
        range: Interval = Interval(start: Instant(milliseconds: .min), end: nil)
    ) -> RevenueReport {
        var names = FactNameTable()
        var last = start
        let facts = told.enumerated().map { index, told in
            let time = start.advanced(byMilliseconds: told.day * day)
            let recorded = start.advanced(byMilliseconds: (told.recorded ?? told.day) * day)
            last = max(last, recorded)
            var fact = Fact(
                sequence: UInt64(index),
                kind: told.kind,
                time: time,
                observedAt: told.observed.map { start.advanced(byMilliseconds: $0 * day) }
                    ?? time,
                subject: 7
            )
            fact.transaction = told.transaction
            fact.label = names.name(told.product)
            fact.productKind = told.kindOfProduct
            fact.store = names.name("app_store")
            var money = MoneyFact(fact, recordedAt: last)
            money.priceMicros = told.price
            money.currency = told.currency.map { names.name($0) }
            money.quantity = told.quantity
            money.isFamilyShared = told.isFamilyShared
            return money
        }
        var tally = RevenueTally(at: start.advanced(byMilliseconds: at * day), range: range)
        tally.add(facts)
        return tally.report(names.names)
    }

    /// The cells of a report's lines that are not 0, by month.
    private static func cells(_ report: RevenueReport) -> [String] {
        report.months.sorted { $0.key < $1.key }.map { key, line in
            let figures: [(String, Int128)] = [
                ("taken", line.taken.micros), ("units", Int128(line.taken.units)),
                ("unpriced", Int128(line.unpriced)),
                ("ofPurchases", line.refundedOfPurchases.micros),
                ("refunded", line.refunded.micros), ("reversed", line.reversed.micros),
                ("booked", line.bookedTaken.micros),
                ("bookedRefunds", line.bookedRefunded.micros),
            ]
            return
                ([key.day.month, key.currencyCode ?? "-"]
                + figures.filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" })
                .joined(separator: " ")
        }
    }

    // row 10.2, P6
    @Test func `shows a refund on the purchase's date, on its own and as it was booked`() {
        let told = [
            Self.bought(0), Self.passed,
            Told(kind: .revocationRefunded, day: 30, recorded: 60),
        ]
        #expect(
            Self.cells(Self.report(told)) == [
                "2026-01 EUR taken 100 units 1 ofPurchases 100 booked 100",
                "2026-02 EUR refunded 100", "2026-03 EUR bookedRefunds 100",
            ]
        )
        // As known when February was closed: nobody had told of it.
        #expect(
            Self.cells(Self.report(Array(told.prefix(2)))) == [
                "2026-01 EUR taken 100 units 1 booked 100"
            ]
        )
        // At a T before it: it is known, and has not come to pass.
        #expect(
            Self.cells(Self.report(told, at: 29)) == ["2026-01 EUR taken 100 units 1 booked 100"]
        )
    }

    // row 10.2: the share of what was given back is of all that was bought.
    @Test func `counts among refunds what was not given back, too`() throws {
        var other = Self.bought(0, 2)
        other.product = "plus"
        let rows = Self.report(
            [Self.bought(0), other, Self.passed, Told(kind: .revocationRefunded, day: 1)]
        )
        .refundRows
        #expect(rows.map(\.refundShare) == [0, 1])
        let total = try #require(RefundRow.totals(of: rows).first)
        #expect(total.purchases == 2 && total.refundsByPurchaseDate == 1)
        #expect(total.refundShare == 0.5)
    }

    // row 10.2, P6
    @Test func `puts a reversed refund back`() {
        let told = [
            Self.bought(0), Self.passed, Told(kind: .revocationRefunded, day: 30),
            Told(kind: .revocationReversed, day: 60, transaction: nil),
        ]
        #expect(
            Self.cells(Self.report(told)) == [
                "2026-01 EUR taken 100 units 1 booked 100",
                "2026-02 EUR refunded 100 bookedRefunds 100",
                "2026-03 EUR reversed 100 bookedRefunds -100",
            ]
        )
        // Refunded once more.
        let again = told + [Told(kind: .revocationRefunded, day: 90, price: 40)]
        #expect(
            Self.cells(Self.report(again)) == [
                "2026-01 EUR taken 100 units 1 ofPurchases 40 booked 100",
                "2026-02 EUR refunded 100 bookedRefunds 100",
                "2026-03 EUR reversed 100 bookedRefunds -100",
                "2026-04 EUR refunded 40 bookedRefunds 40",
            ]
        )
    }

    // row 10.2, P1
    @Test func `counts a transaction and a refund once, however often they are told`() {
        let told = [
            Self.bought(0, price: 90), Self.passed, Self.bought(0),
            Told(kind: .revocationRefunded, day: 1, price: 30),
            Told(kind: .revocationRefunded, day: 2, price: 20),
        ]
        #expect(
            Self.cells(Self.report(told)) == [
                "2026-01 EUR taken 100 units 1 ofPurchases 20 refunded 20 booked 100"
                    + " bookedRefunds 20"
            ]
        )
        // The newer statement is told first.
        var older = Self.bought(0, price: 90)
        older.observed = -1
        #expect(
            Self.cells(Self.report([Self.bought(0), Self.passed, older])) == [
                "2026-01 EUR taken 100 units 1 booked 100"
            ]
        )
    }

    // row 10.2, P7
    @Test func `leaves out what is not verified, not begun, or shared`() {
        #expect(Self.report([Self.bought(0)]).lines.isEmpty)
        let failed = Told(kind: .verificationFailed, day: 5, recorded: 40, transaction: 1)
        let verified = [Self.bought(0), Self.passed]
        #expect(
            Self.cells(Self.report(verified + [failed])) == [
                "2026-01 EUR booked 100", "2026-02 EUR booked -100",
            ]
        )
        #expect(Self.report(verified, at: -1).lines.isEmpty)
        var shared = Self.bought(0)
        shared.isFamilyShared = true
        #expect(Self.report([shared, Self.passed]).lines.isEmpty)
        #expect(!Self.report(verified).lines.isEmpty)
    }

    // row 10.2
    @Test func `never adds currencies, and says where no price is known`() {
        var dollars = Self.bought(0, price: 7, 2)
        dollars.currency = "USD"
        dollars.quantity = 3
        var silent = Self.bought(0, price: nil, 3)
        silent.currency = nil
        #expect(
            Self.cells(Self.report([Self.bought(0), Self.passed, dollars, silent])) == [
                "2026-01 - units 1 unpriced 1", "2026-01 EUR taken 100 units 1 booked 100",
                "2026-01 USD taken 7 units 3 booked 7",
            ]
        )
        let other = Told(kind: .revocationRefunded, day: 1, price: 5, currency: "USD")
        #expect(
            Self.cells(Self.report([Self.bought(0), Self.passed, other])) == [
                "2026-01 EUR taken 100 units 1 booked 100",
                "2026-01 USD ofPurchases 5 refunded 5 bookedRefunds 5",
            ]
        )
    }

    // row 10.2, P6
    @Test func `gives back the period that a refund speaks of, and takes a revocation for none`() {
        let periods = [Self.bought(0, price: 10, 1), Self.bought(40, price: 20, 2), Self.passed]
        func refund(_ kind: EventKind, _ day: Int64, price: Int64? = nil) -> [String] {
            let told = Told(kind: kind, day: day, recorded: 90, transaction: nil, price: price)
            return Self.cells(Self.report(periods + [told])).filter { $0.contains("Refunds") }
        }
        #expect(refund(.revocationRefunded, 30) == ["2026-04 EUR bookedRefunds 10"])
        #expect(refund(.revocationRefunded, 50) == ["2026-04 EUR bookedRefunds 20"])
        #expect(refund(.revocationRefunded, 0) == [])
        #expect(refund(.revocationRevoked, 50) == [])
        #expect(refund(.revocationRevoked, 50, price: 3) == ["2026-04 EUR bookedRefunds 3"])
    }

    // row 10.2
    @Test func `counts what lies in the range, each by its own date`() {
        let told = [
            Self.bought(0), Self.passed,
            Told(kind: .revocationRefunded, day: 30, recorded: 60),
        ]
        func cells(_ from: Int64, _ to: Int64) -> [String] {
            Self.cells(
                Self.report(
                    told,
                    range: Interval(
                        start: Self.start.advanced(byMilliseconds: from * Self.day),
                        end: Self.start.advanced(byMilliseconds: to * Self.day)
                    )
                )
            )
        }
        #expect(cells(0, 30) == ["2026-01 EUR taken 100 units 1 ofPurchases 100 booked 100"])
        #expect(cells(30, 60) == ["2026-02 EUR refunded 100"])
        #expect(cells(60, 61) == ["2026-03 EUR bookedRefunds 100"])
        #expect(cells(61, 62) == [])
    }

    // row 10.2: exact to the millionth.
    @Test func `is summed by currency`() throws {
        let told = [
            Self.bought(0, price: 1_234_567, 1), Self.bought(0, price: 10_000_000, 2),
            Self.bought(0, price: 3, 3), Self.passed,
        ]
        let rows = Self.report(told).rows
        let twice =
            rows
            + rows.map { row in
                var other = row
                other.key.currencyCode = "USD"
                other.key.productID = "other"
                return other
            }
        let totals = RevenueRow.totals(of: twice + rows)
        #expect(totals.map(\.key.currencyCode) == ["EUR", "USD"])
        #expect(totals.map(\.grossMicros) == [2 * 11_234_570, 11_234_570])
        #expect(totals.map(\.purchases) == [6, 3])
    }

    // row 10.2
    @Test func `of more than 64 bits is exact`() throws {
        let largest = FieldShape.largestPrice
        let count: UInt64 = 30
        let told = (1...count).map { Self.bought(0, price: largest, $0) } + [Self.passed]
        let report = Self.report(told)
        #expect(report.lines.values.first?.taken.micros == Int128(largest) * Int128(count))
        let gross = try #require(report.rows.first).grossMicros
        #expect("\(gross)" == "30000000000000000000")
        var twice = report
        twice.merge(report)
        #expect(twice.lines.values.first?.taken.count == Int(count) * 2)
    }
}
