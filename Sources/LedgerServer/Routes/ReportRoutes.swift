import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// Reports on all customers and purchases (rows 10.1 to 10.6, B7).
extension RouteTable {
    static let reportRoutes = [
        report(.customers, "Customers by tier, and what they own by status and product."),
        report(
            .revenue,
            "Revenue by month, store, product and currency, less refunds, three ways."
        ),
        report(.refunds, "Refunds by month, store, product and currency, three ways."),
        report(.funnel, "Purchase flows by product and platform, and how they ended."),
        report(
            .stages,
            "How long the stages of purchase flows take, and which are slow.",
            [
                Route.Parameter(
                    name: "thresholds",
                    text: """
                        Milliseconds that the 95th percentile may take: MILLISECONDS and \
                        STAGE:MILLISECONDS, with commas
                        """
                )
            ]
        ),
        report(
            .errors,
            "Errors by code, and which come far more often than a while ago.",
            alertParameters
        ),
        report(.experiments, "Exposures and conversions by the variants of experiments."),
    ]

    static let alertParameters = [
        Route.Parameter(
            name: "windowMinutes",
            text: "Minutes of a window (default: \(AlertRule.defaultWindowMinutes))",
            shape: .field(.integer(AlertRule.windowMinuteRange))
        ),
        Route.Parameter(
            name: "baselineWindows",
            text: "Windows before the last one (default: \(AlertRule.defaultBaselineWindows))",
            shape: .field(.integer(range(AlertRule.baselineRange)))
        ),
        Route.Parameter(
            name: "score",
            text: "Standard deviations of an alert (default: \(AlertRule.defaultScore))",
            shape: .number
        ),
        Route.Parameter(
            name: "minimumCount",
            text: "Fewer are no alert (default: \(AlertRule.defaultMinimumCount))",
            shape: .field(.integer(range(AlertRule.minimumCountRange)))
        ),
    ]

    private static func range(_ range: ClosedRange<Int>) -> ClosedRange<Int64> {
        Int64(range.lowerBound)...Int64(range.upperBound)
    }

    static let rangeParameters = [
        Route.Parameter(name: "from", text: "What came to pass then or later", shape: .point),
        Route.Parameter(name: "to", text: "What came to pass before", shape: .point),
    ]

    private static func report(
        _ kind: ReportKind,
        _ summary: String,
        _ parameters: [Route.Parameter] = []
    ) -> Route {
        let name = kind.rawValue
        let title = name.prefix(1).uppercased() + name.dropFirst()
        return Route(
            method: .get,
            template: "/v1/reports/\(name)",
            operation: "report\(title)",
            summary: summary,
            access: .keys([.read, .audit]),
            parameters: pointParameters + rangeParameters + parameters,
            answers: replies(.named("\(title)Report")) + [
                Route.Reply(
                    status: 200,
                    text: "As one table for spreadsheets",
                    shape: .text,
                    mediaType: ReportMedia.table.rawValue
                )
            ],
            problems: questionProblems + [.outOfRange],
            handler: { try await report(kind, $0, $1) }
        )
    }

    @Sendable
    private static func report(
        _ kind: ReportKind,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let question = try call.reportQuestion(kind, service)
        try await service.require(call.minimumSequence())
        let media = call.preferred(ReportMedia.allCases)
        let (body, lasting, sequence) = try await service.reports.make {
            let report = try service.ledger.reports.report(question)
            let text = report.jsonText
            let body = media == .json ? text.bytes : Array(report.csv.utf8)
            return (body, text.lasting, report.answer.question.sequence)
        }
        var answer = Answer(bytes: body, mediaType: media.rawValue)
        // At a fixed T nothing changes without a new event.
        answer.caching = .until(
            call.asksNow ? call.now : nil,
            digest: ContentDigest.text(of: lasting) + (media == .json ? "" : "-csv")
        )
        answer.headers[.ledgerSequence] = String(sequence)
        return answer
    }
}

/// The forms in which a report goes out.
private enum ReportMedia: String, CaseIterable {
    case json = "application/json"
    case table = "text/csv"
}

extension Call {
    func reportQuestion(
        _ kind: ReportKind,
        _ service: LedgerService
    ) throws(Problem) -> ReportQuestion {
        var question = ReportQuestion(
            kind,
            environment: try environment(),
            point: try point()
        )
        question.thresholds = service.stageThresholds
        if let from = query[.from] { question.range.start = try instant(from, "from") }
        if let to = query[.to] { question.range.end = try instant(to, "to") }
        if let text = query[.thresholds] {
            guard let thresholds = StageReport.Thresholds(text) else {
                throw Problem(
                    .invalidValue,
                    "expected MILLISECONDS and STAGE:MILLISECONDS, with commas",
                    path: "thresholds"
                )
            }
            question.thresholds = thresholds
        }
        question.rule = try alertRule()
        return question
    }

    private func alertRule() throws(Problem) -> AlertRule {
        let rule = AlertRule(
            windowMinutes: try number("windowMinutes") ?? AlertRule.defaultWindowMinutes,
            baselineWindows: try number("baselineWindows").map(Int.init)
                ?? AlertRule.defaultBaselineWindows,
            score: try query[.score].map { text throws(Problem) in
                guard let score = Double(text) else {
                    throw Problem(.invalidValue, "expected a number", path: "score")
                }
                return score
            } ?? AlertRule.defaultScore,
            minimumCount: try number("minimumCount").map(Int.init)
                ?? AlertRule.defaultMinimumCount
        )
        guard let rule else { throw Problem(.outOfRange, "a number is out of its range") }
        return rule
    }

    private func number(_ name: String) throws(Problem) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = Int64(text) else {
            throw Problem(.invalidValue, "expected an integer", path: name)
        }
        return number
    }
}
