package import Encodings
package import Entitlements
package import LedgerAPI

/// A report: its drawing, and its tables, which are the truth (rows 10.1 to 10.6, B7).
package struct ReportPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// The report.
    package var report: Report
    /// What was asked, by the names of parameters.
    package var chosen: [Name: String]
    /// Where a report is.
    package var path: @Sendable (ReportKind) -> String?
    /// Where the events of a type are, of a month if one is named.
    package var events: @Sendable (_ type: EventKind, _ month: String?) -> String?

    /// Names what the page shows.
    package init(
        language: Language,
        report: Report,
        chosen: [Name: String],
        path: @escaping @Sendable (ReportKind) -> String?,
        events: @escaping @Sendable (_ type: EventKind, _ month: String?) -> String?
    ) {
        self.language = language
        self.report = report
        self.chosen = chosen
        self.path = path
        self.events = events
    }

    /// What was asked that the form has no field for.
    private static let kept = [
        "lang", "known", "knownSequence", "thresholds", "windowMinutes", "baselineWindows", "score",
        "minimumCount",
    ]
    /// Rows of a table that stand in the page; the others are had as CSV.
    private static let rowLimit = 500

    /// The title of the page.
    package var title: String { ReportWords.title(of: kind)[language] }

    private var kind: ReportKind { type(of: report.answer).kind }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        page.element("nav", ["class": "card", "aria-label": PageWords.section(.reports)[language]])
        { page in
            page.element("ul", ["class": "strip"]) { list in
                for other in ReportKind.allCases {
                    guard let path = path(other) else { continue }
                    list.element("li") { item in
                        let name = ReportWords.title(of: other)[language]
                        guard other == kind else {
                            return item.element("a", ["href": path]) { $0.write(name) }
                        }
                        item.element("a", ["href": path, "aria-current": "page"]) {
                            $0.write(name)
                        }
                    }
                }
            }
        }
        page.card(ReportWords.range[language]) { writeForm(to: &$0) }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(ReportWords.drawing[language]) }
            let begun = page.text.utf8.count
            writeCharts(to: &page)
            if page.text.utf8.count == begun {
                let why = isCut ? ReportWords.undrawn : ReportWords.nothing
                page.element("p", ["class": "quiet"]) { $0.write(why[language]) }
            }
        }
        for rows in report.answer.tables { write(ReportTable(rows).inUnits, to: &page) }
        if report.answer.omitted > 0 {
            page.element("p", ["class": "quiet"]) { page in
                page.write(
                    ReportWords.omitted.filled(language) { _ in String(report.answer.omitted) }
                )
            }
        }
    }

    private func writeForm(to page: inout XMLText) {
        page.element(
            "form",
            ["class": "inline", "action": "/console/reports/" + kind.rawValue]
        ) { form in
            form.input(ReportWords.from[language], "from", chosen["from"], hint: "2026-01-01")
            form.input(ReportWords.to[language], "to", chosen["to"], hint: "2026-02-01")
            form.input(ReportWords.at[language], "at", chosen["at"], hint: "now")
            form.choice(
                EventWords.environment[language],
                "environment",
                StoreEnvironment.allCases.map { ($0.name, $0.name) },
                chosen["environment"] ?? StoreEnvironment.production.name
            )
            for name in Self.kept { form.keep(name, chosen[Name(name)]) }
            form.element("button", ["class": "primary"]) { $0.write(EventWords.show[language]) }
        }
    }

    // MARK: Tables

    private func write(_ table: ReportTable, to page: inout XMLText) {
        page.card(ReportWords.table(table.name)[language], id: table.name) { page in
            let columns = table.columns.enumerated().map { place, name in
                let isNumber = table.rows.contains {
                    if case .number = $0[place] { true } else { false }
                }
                return isNumber ? PageColumn.number(name) : PageColumn(name)
            }
            page.rows(
                ReportWords.table(table.name)[language],
                columns,
                table.rows.prefix(Self.rowLimit).map { row in
                    zip(table.columns, row).map { name, value in
                        cell(value, name).leading(to: events(of: name, row, table))
                    }
                },
                empty: ReportWords.nothing[language]
            )
            let more = table.rows.count - Self.rowLimit
            if more > 0 {
                page.element("p", ["class": "quiet"]) { page in
                    page.write(ReportWords.omitted.filled(language) { _ in String(more) })
                }
            }
        }
    }

    private func cell(_ value: JSONValue, _ column: String) -> PageCell {
        switch value {
        case .number(let digits): return .figure(digits)
        case .string(let text): return .code(text)
        case .bool(let flag):
            guard flag else { return "" }
            return .words(ReportWords.flag[language]).marked(column == "isAssigned" ? .ok : .bad)
        default: return ""
        }
    }

    /// Where the events are that a cell counts; nil: it counts none of one kind.
    private func events(of column: String, _ row: [JSONValue], _ table: ReportTable) -> String? {
        let month = table.columns.firstIndex { $0 == "month" }.flatMap { row[$0].string }
        switch (kind, column) {
        case (.refunds, "refundsByRefundDate"), (.revenue, "refundedByRefundDate"):
            return events(.revocationRefunded, month)
        case (.refunds, "reversalsByDate"): return events(.revocationReversed, month)
        case (.funnel, "started"): return events(.flowStarted, nil)
        case (.funnel, "succeeded"): return events(.flowSucceeded, nil)
        case (.funnel, "failed"): return events(.flowFailed, nil)
        case (.funnel, "cancelled"): return events(.flowCancelled, nil)
        case (.funnel, "pending"): return events(.flowPending, nil)
        case (.funnel, "restored"): return events(.flowRestored, nil)
        case (.errors, "count"):
            let origin = table.columns.firstIndex { $0 == "origin" }.flatMap { row[$0].string }
            switch origin.flatMap({ ErrorReport.Origin(rawValue: $0) }) {
            case .flow: return events(.flowFailed, nil)
            case .failure: return events(.failureRecorded, nil)
            case .refusal: return events(.signalNoted, nil)
            case nil: return nil
            }
        default: return nil
        }
    }

    // MARK: Drawings

    /// Whether rows that a drawing adds up are left out.
    private var isCut: Bool {
        [.revenue, .refunds, .funnel].contains(kind) && report.answer.omitted > 0
    }

    private func writeCharts(to page: inout XMLText) {
        if isCut { return }
        switch report {
        case .revenue(let answer):
            for (place, total) in answer.totals.enumerated() {
                guard let currency = total.key.currencyCode else { continue }
                RevenueChart.chart(
                    answer.rows,
                    in: currency,
                    language,
                    id: "revenue-\(place)",
                    path: { events(.purchaseCompleted, $0) }
                )?
                .write(to: &page)
            }
        case .customers(let answer):
            draw("tiers", answer.tiers.map { bar($0.tier, $0.customers) }, to: &page)
            draw(
                "statuses",
                answer.statuses.map { bar($0.status.rawValue, $0.purchases) },
                to: &page
            )
        case .refunds(let answer): drawRefunds(answer.rows, to: &page)
        case .funnel(let answer): drawFunnel(answer.rows, to: &page)
        case .stages(let answer):
            draw(
                "stages",
                answer.rows.map { row in
                    var bar = BarChart.Bar(row.stage, Double(row.p95), "\(row.p95) ms")
                    bar.isBad = row.isSlow
                    return bar
                },
                to: &page
            )
        case .errors(let answer):
            draw(
                "errors",
                answer.rows.map { row in
                    var bar = bar(row.code, row.count)
                    bar.isBad = row.isAlert
                    return bar
                },
                to: &page
            )
        case .experiments(let answer):
            draw(
                "experiments",
                answer.rows.map { row in
                    let rate = row.rate ?? 0
                    return BarChart.Bar(
                        "\(row.experiment) \(row.variant ?? "")",
                        rate,
                        NiceScale.text(rate * 100) + " %"
                    )
                },
                to: &page
            )
        }
    }

    private func drawRefunds(_ rows: [RefundRow], to page: inout XMLText) {
        var months: [Name: Int] = [:]
        for row in rows { months[Name(row.key.month), default: 0] += row.refundsByRefundDate }
        draw(
            "refunds",
            // The newest, where there are more than are drawn.
            months.sorted { $0.key < $1.key }.suffix(BarChart.barLimit).map { month, count in
                var bar = bar(month.text, count)
                bar.path = events(.revocationRefunded, month.text)
                return bar
            },
            to: &page
        )
    }

    private func drawFunnel(_ rows: [FunnelRow], to page: inout XMLText) {
        let ends: [(String, KeyPath<FunnelRow, Int>, EventKind?)] = [
            ("started", \.started, .flowStarted), ("succeeded", \.succeeded, .flowSucceeded),
            ("failed", \.failed, .flowFailed), ("cancelled", \.cancelled, .flowCancelled),
            ("pending", \.pending, .flowPending), ("restored", \.restored, .flowRestored),
            ("open", \.open, nil),
        ]
        draw(
            "funnel",
            ends.map { name, count, type in
                var bar = bar(name, rows.reduce(0) { $0 + $1[keyPath: count] })
                bar.path = type.flatMap { events($0, nil) }
                bar.isBad = name == "failed"
                return bar
            },
            to: &page
        )
    }

    private func bar(_ name: String, _ count: Int) -> BarChart.Bar {
        BarChart.Bar(name, Double(count), NumberText.grouped(String(count)))
    }

    private func draw(_ id: String, _ bars: [BarChart.Bar], to page: inout XMLText) {
        guard let first = bars.max(by: { $0.value < $1.value }) else { return }
        BarChart(
            id: "chart-" + id,
            title: ReportWords.table(id)[language],
            summary: ReportWords.largest.filled(language) {
                $0 == "name" ? first.label : first.text
            },
            bars: bars
        )
        .write(to: &page)
    }
}

/// The words of the pages of reports.
enum ReportWords {
    static let range = Sentence("What is asked", "条件", "條件")
    static let from = Sentence("From", "開始", "起")
    static let to = Sentence("Before", "終了（より前）", "迄（不含）")
    static let at = Sentence("As of", "基準日時", "基準時間")
    static let drawing = Sentence("At a glance", "グラフ", "圖表")
    static let nothing = Sentence("There is nothing to count.", "集計対象がありません。", "沒有可統計的資料。")
    static let undrawn = Sentence(
        "There are too many rows to be drawn: ask about a shorter time.",
        "行数が多すぎるため描画できません。期間を短くしてください。",
        "列數過多，無法繪製圖表；請縮短查詢期間。"
    )
    static let omitted = Sentence(
        "{count} more rows are left out here.",
        "ほかに{count}行あります（ここでは省略）。",
        "另有 {count} 列未在此顯示。"
    )
    static let flag = Sentence("yes", "はい", "是")
    static let largest = Sentence(
        "Most: {name}, {value}.",
        "最多：{name}、{value}。",
        "最多：{name}，{value}。"
    )

    static func title(of kind: ReportKind) -> Sentence {
        switch kind {
        case .customers: Sentence("Customers", "顧客", "客戶")
        case .revenue: Sentence("Revenue", "売上", "營收")
        case .refunds: Sentence("Refunds", "返金", "退款")
        case .funnel: Sentence("Purchase flows", "購入フロー", "購買流程")
        case .stages: Sentence("Times of stages", "段階の所要時間", "階段時間")
        case .errors: Sentence("Errors", "エラー", "錯誤")
        case .experiments: Sentence("Experiments", "実験", "實驗")
        }
    }

    /// What a table is called.
    static func table(_ name: String) -> Sentence {
        switch name {
        case "tiers": Sentence("Customers by tier", "ティア別の顧客", "依層級分類的客戶")
        case "statuses": Sentence("Purchases by status", "状態別の購入", "依狀態分類的購買")
        case "products": Sentence("By product", "製品別", "依產品")
        case "totals": Sentence("Sums by currency", "通貨別の合計", "依貨幣合計")
        case "refunds": Sentence("Refunds by month", "月別の返金", "每月退款")
        case "funnel": Sentence("Flows by their end", "終了状態別のフロー", "依結果分類的流程")
        case "stages": Sentence("95th percentile", "95パーセンタイル", "第 95 百分位")
        case "errors": Sentence("Errors by code", "コード別エラー", "依代碼分類的錯誤")
        case "experiments": Sentence("Conversion", "転換率", "轉換率")
        default: Sentence("Rows", "明細", "明細")
        }
    }
}
