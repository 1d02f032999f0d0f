import Encodings
import Entitlements
import Presentation
import Testing

@testable import LedgerAPI

/// What a report's page draws of its rows (rows 10.2, 10.6).
struct `A page of a report` {
    private static let question = ReportEcho(
        environment: .production,
        at: Instant(milliseconds: 0),
        known: nil,
        sequence: 0,
        from: nil,
        to: nil
    )

    private static func text(_ rows: [RefundRow]) -> String {
        var page = XMLText()
        ReportPage(
            language: .english,
            report: .refunds(RowsAnswer(question, rows)),
            chosen: ["known": "2026-01-01"],
            path: { _ in nil },
            events: { _, _ in nil }
        )
        .write(to: &page)
        return page.text
    }

    private static func row(_ month: String, _ product: String = "pro") -> RefundRow {
        RefundRow(
            key: RevenueKey(
                month: month,
                store: "app_store",
                productID: product,
                currencyCode: "EUR"
            ),
            purchases: 2,
            refundsByPurchaseDate: 1,
            refundedByPurchaseDateMicros: 1,
            refundShare: 0.5,
            refundsByRefundDate: 1,
            refundedByRefundDateMicros: 1,
            reversalsByDate: 0,
            reversedByDateMicros: 0,
            bookedRefunds: 1,
            bookedRefundedMicros: 1
        )
    }

    @Test func `draws the newest months, and keeps what was asked`() {
        let months = (2024...2025).flatMap { year in
            (1...12).map { "\(year)-\($0 < 10 ? "0" : "")\($0)" }
        }
        let text = Self.text(months.map { Self.row($0) })
        let drawn = text.split(separator: "</svg>")[0]
        #expect(drawn.contains("2025-12") && drawn.contains("2024-09"))
        #expect(!drawn.contains("2024-08"), "16 months are drawn")
        #expect(text.contains(#"name="known" value="2026-01-01""#))
    }

    @Test(arguments: [NamedRows.limit, NamedRows.limit + 1])
    func `draws nothing of rows that are cut`(_ count: Int) {
        let text = Self.text((0..<count).map { Self.row("2025-01", "p\($0)") })
        #expect(text.contains("<svg") == (count == NamedRows.limit))
        #expect(text.contains("too many rows") != text.contains("<svg"))
    }
}
