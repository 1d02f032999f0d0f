import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// Reports, for people: those that the interface gives to the same key.
extension PageTable {
    static let reportPages: [Route] =
        [
            Route(
                method: .get,
                template: "/console/reports",
                operation: "showReportsPage",
                summary: "The first of the reports.",
                access: .page([.read, .audit]),
                parameters: Call.pageParameters,
                answers: [Route.Reply(status: 303, text: "Where it is", shape: nil)],
                handler: { call, _ in .seeOther(call.link(["reports", "customers"])) }
            )
        ]
        + ReportKind.allCases.map { kind in
            .page(
                "/console/reports/\(kind.rawValue)",
                "show\(kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst())ReportPage",
                "A report, drawn and in tables.",
                [.read, .audit],
                parameters: RouteTable.rangeParameters + RouteTable.alertParameters + [
                    Route.Parameter(
                        name: "thresholds",
                        text: "Milliseconds that the 95th percentile may take"
                    )
                ],
                { try await report(kind, $0, $1) }
            )
        }

    private static func report(
        _ kind: ReportKind,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Page {
        let question = try call.reportQuestion(kind, service)
        let report = try await service.reports.make {
            try service.ledger.reports.report(question)
        }
        let page = ReportPage(
            language: call.language,
            report: report,
            chosen: call.chosen,
            path: { call.link(toReport: $0) },
            events: { type, month in call.link(toEventsOf: type, in: month) }
        )
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: page.title,
            section: .reports,
            body: body,
            json: report.jsonText.bytes,
            rows: Page.Rows(report),
            size: report.answer.question.sequence,
            command: "entitle report \(kind.rawValue)"
                + call.options(
                    [.from, .to, .at, .known, .knownSequence, .environment] + parameters(of: kind)
                )
        )
    }

    /// What one kind alone is asked.
    private static func parameters(of kind: ReportKind) -> [QueryName] {
        switch kind {
        case .stages: [.thresholds]
        case .errors: [.windowMinutes, .baselineWindows, .score, .minimumCount]
        case .customers, .revenue, .refunds, .funnel, .experiments: []
        }
    }
}

extension Call {
    /// The events of a type, of a month (`YYYY-MM`) if one is named.
    fileprivate func link(toEventsOf type: EventKind, in month: String?) -> String {
        var query: [(QueryName, String)] = [(.type, type.name)]
        let parts = (month ?? "").split(separator: "-").compactMap { Int64($0) }
        if parts.count == 2, (1...12).contains(parts[1]), parts[0] < 10_000 {
            // Fits: years of four digits.
            let next = parts[1] == 12 ? (parts[0] + 1, 1) : (parts[0], parts[1] + 1)
            for (name, year, month) in [
                (QueryName.from, parts[0], parts[1]), (.to, next.0, next.1),
            ] {
                query.append((name, "\(year)-\(month < 10 ? "0" : "")\(month)-01"))
            }
        }
        return link(["events"], query)
    }
}

extension Page.Rows {
    /// All tables of a report as one, whose first column says of which table a row is.
    fileprivate init(_ report: Report) {
        let tables = report.answer.tables.map { ReportTable($0) }
        var columns: [String] = []
        for name in tables.flatMap(\.columns) where !columns.contains(name) {
            columns.append(name)
        }
        let cells = tables.flatMap { table in
            table.rows.map { row in
                [JSONValue.string(table.name)]
                    + columns.map { name in
                        table.columns.firstIndex(of: name).map { row[$0] } ?? .null
                    }
            }
        }
        self.init(columns: ["table"] + columns, cells: cells)
    }
}
