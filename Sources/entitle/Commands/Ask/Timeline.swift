import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations

/// The command `entitle timeline`.
struct Timeline: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A customer's stretches and events, in both times."
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var access: AccessOptions
    @Option(help: "Draws it into a file, or - for standard output.") var svg: String?
    @Argument(help: "A customer id.") var customer: String

    func run() throws {
        let question = CustomerQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            point: try point.point()
        )
        let answer = try options.withLedger(writing: access.isNoted) { ledger in
            try access.note("timeline", of: question.customer, question.environment, ledger)
            return try ledger.timelineAnswer(question)
        }
        if let svg { return try draw(answer.answer, into: svg) }
        if options.json { return Terminal.line(answer.text) }
        Terminal.line("\(customer), from \(answer.question.sequence) events")
        for line in TimelineChart(answer.answer).text(width: Self.chartWidth) {
            Terminal.line(line)
        }
        ShowText.table("tiers", answer.tiers.map { Self.row($0.start, $0.end, $0.value) })
        for feature in answer.features {
            ShowText.table(
                "feature \(feature.name)",
                feature.value.map { Self.row($0.start, $0.end, $0.value.rawValue) }
            )
        }
        for purchase in answer.statuses {
            ShowText.table(
                purchase.name,
                purchase.value.map { Self.row($0.start, $0.end, $0.value.rawValue) }
            )
        }
        ShowText.table(
            "events",
            answer.events.map { event in
                let late = event.late.map { fact in
                    "late by \(fact.delayMilliseconds / Instant.millisecondsPerDay) days"
                }
                return DiffText.event(event) + [late ?? ""]
            }
        )
    }

    /// Columns of the chart; with labels it fits most terminals.
    private static let chartWidth = 64

    private func draw(_ answer: TimelineAnswer, into file: String) throws {
        let svg = TimelineChart(answer).svg
        guard file != "-" else { return Terminal.write(svg) }
        try OutputFile.write(svg, to: file)
    }

    private static func row(_ start: Instant, _ end: Instant?, _ value: String) -> [String] {
        [start.description, ShowText.text(end), value]
    }
}
