import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
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
        if let svg { return try draw(answer, into: svg) }
        if options.json { return Terminal.line(answer) }
        Terminal.line("\(customer), from \(ShowText.text(answer["sequence"])) events")
        for line in TimelineChart(answer).text(width: Self.chartWidth) { Terminal.line(line) }
        ShowText.table("tiers", (answer["tiers"]?.array ?? []).map(Self.row))
        for feature in answer["features"]?.members ?? [] {
            ShowText.table("feature \(feature.name)", (feature.value.array ?? []).map(Self.row))
        }
        for purchase in answer["statuses"]?.members ?? [] {
            ShowText.table(purchase.name, (purchase.value.array ?? []).map(Self.row))
        }
        ShowText.table(
            "events",
            (answer["events"]?.array ?? []).map { event in
                let late = LateFact(event).map { fact in
                    "late by \(fact.delayMilliseconds / Instant.millisecondsPerDay) days"
                }
                return DiffText.event(event) + [late ?? ""]
            }
        )
    }

    /// Columns of the chart; with labels it fits most terminals.
    private static let chartWidth = 64

    private func draw(_ answer: JSONValue, into file: String) throws {
        let svg = TimelineChart(answer).svg
        guard file != "-" else { return Terminal.write(svg) }
        try OutputFile.write(svg, to: file)
    }

    private static func row(_ stretch: JSONValue) -> [String] {
        [
            ShowText.text(stretch["from"]), ShowText.text(stretch["to"]),
            ShowText.text(stretch["value"]),
        ]
    }
}
