import Encodings
package import Entitlements
package import LedgerAPI

/// Whether all is well, and how the business is, at one look (row 10.6).
package struct OverviewPage: Sendable {
    /// How the ledger is.
    package var strip: HealthStrip
    /// Customers and what they own; nil: not for whoever looks, or it could not be summed up now.
    package var customers: CustomersAnswer?
    /// What was brought in by currency, the largest first, in all; nil likewise.
    package var revenue: [RevenueRow]?
    /// What was brought in, by month; nil likewise.
    package var months: [RevenueRow] = []
    /// When events were recorded lately.
    package var rate: ColumnChart
    /// The newest events.
    package var latest: EventListPage
    /// Where an area of the health is told of.
    package var area: @Sendable (HealthArea) -> String?
    /// Where a report is.
    package var report: @Sendable (ReportKind) -> String?

    /// Names what the page shows.
    package init(
        strip: HealthStrip,
        rate: ColumnChart,
        latest: EventListPage,
        area: @escaping @Sendable (HealthArea) -> String?,
        report: @escaping @Sendable (ReportKind) -> String?
    ) {
        self.strip = strip
        self.rate = rate
        self.latest = latest
        self.area = area
        self.report = report
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.overview)[language]
    }

    /// Currencies that stand by themselves.
    private static let currencyLimit = 3
    /// Tiers that stand by themselves.
    private static let tierLimit = 6

    private var language: Language { strip.language }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        strip.write(to: &page, path: area)
        if customers != nil || revenue != nil {
            page.element("h2") { $0.write(OverviewWords.figures[language]) }
            page.element("div", ["class": "figures"]) { page in
                writeCustomers(to: &page)
                writeMoney(to: &page)
            }
        }
        if let chart = monthChart {
            page.card(OverviewWords.revenue[language]) { chart.write(to: &$0) }
        }
        page.card(OverviewWords.rate[language]) { page in
            if rate.isEmpty {
                page.element("p", ["class": "quiet"]) { $0.write(OverviewWords.quiet[language]) }
            } else {
                page.element("p", ["class": "quiet"]) { $0.write(rate.summary) }
                rate.write(to: &page)
            }
        }
        page.card(OverviewWords.latest[language]) { page in
            if let stream = latest.stream { page.liveControls(stream, language) }
            page.element("div", ["id": "live"]) { $0.events(latest) }
        }
    }

    private func writeCustomers(to page: inout XMLText) {
        guard let customers else { return }
        let path = report(.customers)
        func purchases(_ statuses: PurchaseStatus...) -> Int {
            customers.statuses.filter { statuses.contains($0.status) }.map(\.purchases)
                .reduce(0, +)
        }
        let figures: [(Sentence, Int)] = [
            (OverviewWords.customers, customers.tiers.map(\.customers).reduce(0, +)),
            (OverviewWords.active, purchases(.active)),
            (OverviewWords.atRisk, purchases(.grace, .billingRetry)),
            (OverviewWords.takenBack, purchases(.refunded, .revoked)),
        ]
        for (words, count) in figures { page.figure(words[language], String(count), path) }
        for tier in customers.tiers.prefix(Self.tierLimit) {
            page.figure(
                OverviewWords.ofTier.filled(language) { _ in tier.tier },
                String(tier.customers),
                path
            )
        }
    }

    private func writeMoney(to page: inout XMLText) {
        guard let revenue else { return }
        for row in revenue.prefix(Self.currencyLimit) {
            let currency = row.key.currencyCode ?? "—"
            page.figure(
                OverviewWords.taken.filled(language) { _ in currency },
                Decimals.units(ofMicros: String(row.grossMicros)),
                report(.revenue)
            )
            page.figure(
                OverviewWords.refunded.filled(language) { _ in currency },
                Decimals.units(ofMicros: String(row.refundedByPurchaseDateMicros)),
                report(.refunds)
            )
        }
        let more = revenue.count - Self.currencyLimit
        if more > 0 {
            page.figure(OverviewWords.moreCurrencies[language], "+\(more)", report(.revenue))
        }
    }

    /// The largest currency by month; currencies are never added.
    private var monthChart: ColumnChart? {
        guard let currency = revenue?.first?.key.currencyCode else { return nil }
        return RevenueChart.chart(
            months,
            in: currency,
            language,
            id: "months",
            path: { _ in report(.revenue) }
        )
    }
}

/// The words of the overview.
enum OverviewWords {
    static let figures = Sentence("Figures", "主要な数値", "重要數字")
    static let customers = Sentence("Customers", "顧客", "客戶")
    static let active = Sentence("Active purchases", "有効な購入", "有效購買")
    static let takenBack = Sentence("Refunded or revoked", "返金・取り消し", "已退款或撤銷")
    static let atRisk = Sentence(
        "At risk (grace, billing retry)",
        "要注意（猶予期間・請求再試行）",
        "有風險（寬限期、扣款重試）"
    )
    static let ofTier = Sentence("Customers: {tier}", "顧客：{tier}", "客戶：{tier}")
    static let taken = Sentence("Taken, {currency}", "売上（{currency}）", "營收（{currency}）")
    static let refunded = Sentence("Given back, {currency}", "返金（{currency}）", "退款（{currency}）")
    static let moreCurrencies = Sentence("More currencies", "その他の通貨", "其他貨幣")
    static let revenue = Sentence("Revenue by month", "月別売上", "每月營收")
    static let rate = Sentence("Events recorded", "記録されたイベント", "已記錄的事件")
    static let quiet = Sentence(
        "Nothing was recorded in the last 24 hours.",
        "過去24時間に記録されたイベントはありません。",
        "過去 24 小時內沒有記錄任何事件。"
    )
    static let rateSummary = Sentence(
        "{count} events in the last 24 hours; {failed} of them tell of a failure.",
        "過去24時間に{count}件、うち失敗の報告が{failed}件です。",
        "過去 24 小時內有 {count} 個事件，其中 {failed} 個為失敗。"
    )
    static let atLeast = Sentence(
        "At least {count} events in the last 24 hours; {failed} of them tell of a failure.",
        "過去24時間に{count}件以上、うち失敗の報告が{failed}件です。",
        "過去 24 小時內至少有 {count} 個事件，其中 {failed} 個為失敗。"
    )
    static let others = Sentence("others", "その他", "其他")
    static let failures = Sentence("failures", "失敗", "失敗")
    static let latest = Sentence("Latest events", "最新のイベント", "最新事件")
}

extension OverviewPage {
    /// When events were recorded, by the hour.
    ///
    /// `counts`: of each hour its events, and of them those that tell of a failure. `isWhole`: whether all of
    /// that time was looked at.
    package static func rateChart(
        from start: Instant,
        hours counts: [(events: Int, failed: Int)],
        isWhole: Bool,
        _ language: Language
    ) -> ColumnChart {
        let events = counts.map(\.events).reduce(0, +)
        let failed = counts.map(\.failed).reduce(0, +)
        let words = isWhole ? OverviewWords.rateSummary : OverviewWords.atLeast
        return ColumnChart(
            id: "rate",
            title: OverviewWords.rate[language],
            summary: words.filled(language) { $0 == "failed" ? String(failed) : String(events) },
            series: [OverviewWords.others[language], "", OverviewWords.failures[language]],
            columns: counts.enumerated().map { place, count in
                // Fits: a day.
                let hour = start.advanced(byMilliseconds: Int64(place) * 3_600_000)
                return ColumnChart.Column(
                    label: String(hour.description.dropFirst(11).prefix(5)),
                    path: nil,
                    values: [Double(count.events - count.failed), 0, Double(count.failed)],
                    tip: "\(count.events)"
                )
            }
        )
    }
}
