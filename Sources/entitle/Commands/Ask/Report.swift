import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle report`.
struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract:
            "Customers, revenue, refunds, flows, errors and experiments, at T and as known at R.",
        discussion: HelpText.discussion(
            """
            customers    by tier; what they own by status and product
            revenue      by month, store, product and currency; refunds on the purchase's date, on
                         the refund's date, and as booked; months of UTC
            refunds      how many and how much, three ways likewise
            funnel       purchase flows by product and platform, and how they ended
            stages       50th, 95th and 99th percentile of each stage of these flows, milliseconds
            errors       by code; a code whose last window is far above its recent past is an alert
            experiments  exposures and conversions by variant, with 95 % confidence intervals
            """,
            HelpText.times,
            examples: "entitle report revenue --from 2026-01-01 --to 2026-04-01 --csv"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @Argument(
        help: "\(ReportKind.allCases.map(\.rawValue).joined(separator: ", ")).",
        completion: .list(ReportKind.allCases.map(\.rawValue)),
        transform: Self.kind
    )
    var kind: ReportKind

    @Option(parsing: .unconditional, help: "What came to pass at or after this instant.")
    var from: String?
    @Option(parsing: .unconditional, help: "What came to pass before this instant.")
    var to: String?
    @Flag(
        help: "Comma-separated values: one table, whole units beside millionths, sums by currency."
    ) var csv = false

    @Option(
        help: """
            stages: how slow the 95th percentile may be, MILLISECONDS and STAGE:MILLISECONDS, with \
            commas (default: $ENTITLE_STAGE_THRESHOLDS, else \
            \(StageReport.Thresholds.defaultMilliseconds)).
            """
    )
    var thresholds: String?
    @Option(help: "errors: minutes of a window.")
    var windowMinutes = AlertRule.defaultWindowMinutes
    @Option(help: "errors: windows that the last one is held against.")
    var baselineWindows = AlertRule.defaultBaselineWindows
    @Option(help: "errors: standard deviations from which on it is an alert.")
    var score = AlertRule.defaultScore
    @Option(help: "errors: fewer in a window are no alert.")
    var minimumCount = AlertRule.defaultMinimumCount
    @Flag(help: "stages, errors: exit 1 if there is an alert.") var failOnAlert = false

    func run() throws {
        let question = try question()
        if let client = try server.named() { return try ask(client, question) }
        let report = try options.withLedger(writing: false) { try $0.reports.report(question) }
        if csv { Terminal.write(report.csv) } else { show(report.answer) }
        try end(report.answer)
    }

    /// Sums of rows that are left out stand in no JSON: a table is asked for as such.
    private func ask(_ client: ServerClient, _ question: ReportQuestion) throws {
        let call = call(question)
        if csv {
            var asked = call
            asked.mediaType = "text/csv"
            let bytes = try Blocking.value { [asked] in try await client.answer(to: asked) }
            Terminal.write(Data(bytes))
            guard failOnAlert else { return }
        }
        let kind = question.kind
        // What cannot be read is told of, and not why.
        let report = try client.read(call) { try? LedgerAPI.Report(kind, reading: $0) }
        if !csv { show(report.answer) }
        try end(report.answer)
    }

    private func show(_ answer: any ReportAnswer) {
        Terminal.tell(answer.jsonText, or: answer.textLines, asJSON: options.json)
    }

    private func end(_ answer: any ReportAnswer) throws {
        if failOnAlert, let alerts = answer.alerts, alerts > 0 { throw ExitCode(.no) }
    }

    private func call(_ question: ReportQuestion) -> ServerCall {
        var query = [(name: "environment", value: question.environment.name)]
        query += question.point.parameters("at", "known", "knownSequence")
        if from != nil { query.append(("from", question.range.start.description)) }
        if let end = question.range.end { query.append(("to", end.description)) }
        switch question.kind {
        case .stages: if let thresholds { query.append(("thresholds", thresholds)) }
        case .errors:
            query += [
                ("windowMinutes", String(windowMinutes)),
                ("baselineWindows", String(baselineWindows)), ("score", String(score)),
                ("minimumCount", String(minimumCount)),
            ]
        default: break
        }
        return .get(["v1", "reports", question.kind.rawValue], query).untilDone
    }

    private func question() throws -> ReportQuestion {
        if options.json && csv {
            throw Self.usage("--json and --csv exclude each other", "--csv")
        }
        var question = ReportQuestion(
            kind,
            environment: try options.environment(),
            point: try point.point()
        )
        let now = SystemClock.now()
        if let from {
            question.range.start = try InstantArgument.parse(from, place: "--from", now: now)
        }
        question.range.end = try to.map { try InstantArgument.parse($0, place: "--to", now: now) }
        if let thresholds {
            guard let read = StageReport.Thresholds(thresholds) else {
                throw Self.usage("not thresholds", "--thresholds", hint: "such as 2000,store:800")
            }
            question.thresholds = read
        } else if kind == .stages {
            question.thresholds = try Invocation.current.settings.stageThresholds()
        }
        guard
            let rule = AlertRule(
                windowMinutes: windowMinutes,
                baselineWindows: baselineWindows,
                score: score,
                minimumCount: minimumCount
            )
        else {
            throw Self.usage(
                "a number is out of its range",
                "--window-minutes, --baseline-windows, --score or --minimum-count",
                hint: """
                    minutes \(AlertRule.windowMinuteRange), windows \(AlertRule.baselineRange), \
                    score \(AlertRule.scoreRange), count \(AlertRule.minimumCountRange)
                    """
            )
        }
        question.rule = rule
        return question
    }

    private static func kind(_ name: String) throws -> ReportKind {
        guard let kind = ReportKind(rawValue: name) else {
            throw ValidationError("There is no report '\(name)'.")
        }
        return kind
    }

    private static func usage(
        _ message: String,
        _ place: String,
        hint: String? = nil
    ) -> OperationFault {
        OperationFault(.usage, message, place: place, hint: hint)
    }
}
