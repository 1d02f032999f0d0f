import Encodings
import Entitlements
import LedgerAPI

/// What was brought in and given back by month, of one currency.
enum RevenueChart {
    /// Months that are drawn, at most.
    private static let monthLimit = 24

    /// The chart of a currency; nil: nothing is told of it.
    ///
    /// `path`: where the rows of a month are.
    static func chart(
        _ rows: [RevenueRow],
        in currency: String,
        _ language: Language,
        id: String,
        path: (String) -> String?
    ) -> ColumnChart? {
        var months: [Name: (taken: Int128, refunded: Int128)] = [:]
        for row in rows where row.key.currencyCode == currency {
            months[Name(row.key.month), default: (0, 0)].taken += row.grossMicros
            months[Name(row.key.month), default: (0, 0)].refunded += row.refundedByRefundDateMicros
        }
        guard !months.isEmpty else { return nil }
        let columns = months.sorted { $0.key < $1.key }.suffix(monthLimit).map { month, sums in
            let taken = Decimals.units(ofMicros: String(sums.taken))
            let refunded = Decimals.units(ofMicros: String(sums.refunded))
            return ColumnChart.Column(
                label: month.text,
                path: path(month.text),
                values: [Double(sums.taken) / 1e6, 0, -Double(sums.refunded) / 1e6],
                tip: "\(taken) − \(refunded) \(currency)"
            )
        }
        let last = columns[columns.count - 1]
        return ColumnChart(
            id: id,
            title: "\(OverviewWords.revenue[language]), \(currency)",
            summary: "\(last.label): \(last.tip)",
            series: [
                OverviewWords.taken.filled(language) { _ in currency }, "",
                OverviewWords.refunded.filled(language) { _ in currency },
            ],
            columns: Array(columns)
        )
    }
}
