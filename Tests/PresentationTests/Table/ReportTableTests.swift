import Encodings
import Entitlements
import Presentation
import Testing

@testable import LedgerAPI

/// Reports for spreadsheets.
struct `A report as a table` {
    // row 10.6
    @Test func `is read as text by spreadsheets`() {
        let names = [nil, "x,y", "say \"hi\"", "=1+1", "@cmd\nx"]
        let rows = names.map { Self.experiment($0, rate: $0 == nil ? nil : 0.5) }
        let report = RowsAnswer(Self.question, rows)
        let cells = report.csv.split(separator: "\r\n").map {
            $0.split(separator: ",e,", maxSplits: 1).last.map(String.init) ?? ""
        }
        let rest = "true,1,1,0,0.5,,,,,,"
        #expect(
            cells.dropFirst().elementsEqual([
                ",true,1,1,0,,,,,,,", "\"x,y\"," + rest, "\"say \"\"hi\"\"\"," + rest,
                "'=1+1," + rest, "\"'@cmd\nx\"," + rest,
            ]),
            "\(cells)"
        )
    }

    private static func experiment(_ variant: String?, rate: Double?) -> ExperimentRow {
        ExperimentRow(
            experiment: "e",
            variant: variant,
            isAssigned: true,
            exposures: 1,
            conversions: 1,
            mismatches: 0,
            rate: rate,
            rateLow: nil,
            rateHigh: nil,
            control: nil,
            difference: nil,
            differenceLow: nil,
            differenceHigh: nil
        )
    }

    // row 10.6: one table, whatever the report has.
    @Test func `is one of several, with an empty cell where one has no such column`() {
        let report = CustomersAnswer(
            question: Self.question,
            tiers: [CustomersAnswer.Tier(tier: "pro", customers: 2)],
            statuses: [CustomersAnswer.Status(status: .active, customers: 2, purchases: 3)],
            products: [],
            omitted: 0
        )
        let expected = """
            table,tier,customers,status,purchases,store,productId\r
            tiers,pro,2,,,,\r
            statuses,,2,active,3,,\r

            """
        #expect(report.csv == expected)
    }

    // rows 10.2, 10.6: sums by currency, whole units beside millionths.
    @Test func `has sums below its rows, and whole units beside millionths`() {
        let rows = [Self.revenue("EUR", micros: 11_234_570), Self.revenue("USD", micros: 5)]
        let sheet = RowsAnswer(Self.question, rows).csv.split(separator: "\r\n").map(String.init)
        let heading = "table,month,store,productId,currencyCode,purchases,units,unpriced,"
        #expect(sheet[0].hasPrefix(heading + "grossMicros,gross,refundedByPurchaseDateMicros,"))
        #expect(
            sheet.dropFirst().map { String($0.prefix { $0 != "," }) }
                == ["rows", "rows", "totals", "totals"]
        )
        #expect(sheet[3].hasPrefix("totals,,,,EUR,3,3,0,11234570,11.23457,0,0.00,"))
        #expect(sheet[4].hasPrefix("totals,,,,USD,3,3,0,5,0.000005,0,0.00,"))
    }

    @Test func `has whole units in place of millionths for people`() throws {
        let rows = [Self.revenue("EUR", micros: -1_500_000)]
        let table = try #require(RowsAnswer(Self.question, rows).tables.first)
        let shown = ReportTable(table).inUnits
        let place = try #require(shown.columns.firstIndex { $0 == "gross" })
        #expect(shown.rows.map { $0[place] } == [.number("-1.50")])
        #expect(!shown.columns.contains { $0.hasSuffix("Micros") })
    }

    private static func revenue(_ currency: String, micros: Int128) -> RevenueRow {
        RevenueRow(
            key: RevenueKey(
                month: "2026-01",
                store: "app_store",
                productID: "pro",
                currencyCode: currency
            ),
            purchases: 3,
            units: 3,
            unpriced: 0,
            grossMicros: micros,
            refundedByPurchaseDateMicros: 0,
            netByPurchaseDateMicros: micros,
            refundedByRefundDateMicros: 0,
            netByRefundDateMicros: micros,
            bookedGrossMicros: micros,
            bookedRefundedMicros: 0,
            bookedNetMicros: micros
        )
    }

    private static let question = ReportEcho(
        environment: .production,
        at: Instant(milliseconds: 0),
        known: nil,
        sequence: 0,
        from: nil,
        to: nil
    )
}
