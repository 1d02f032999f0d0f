import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import Presentation

/// The command `entitle timeline`.
struct Timeline: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A customer's stretches and events, in both times.",
        discussion: HelpText.discussion(
            HelpText.times,
            examples: "entitle timeline alice",
            "entitle timeline alice --known 2026-05-01 --svg alice.svg"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var access: AccessOptions
    @Flag(help: "With milliseconds and when each event was recorded, however wide.")
    var all = false
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
            return try ledger.questions.timelineAnswer(question)
        }
        if let svg { return try draw(answer.answer, into: svg) }
        if options.json { return Terminal.line(answer.text) }
        Terminal.line("\(customer), from \(answer.question.sequence) events")
        for line in TimelineChart(answer.answer).text(columns: Self.columns) {
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
        ShowText.table(all ? "events" : "events (UTC)", answer.events.map { row($0) })
    }

    /// Characters of a line that every terminal has.
    private static let columns = 80

    private func row(_ event: ListedEvent) -> [String] {
        let late = event.late.map { fact in
            "\(fact.delayMilliseconds / Instant.millisecondsPerDay) days late"
        }
        if all { return DiffText.event(event) + [late ?? ""] }
        let minute = String(event.time.description.prefix(16)).replacing("T", with: " ")
        return [
            minute, event.type, ShowText.text(event.source), String(event.sequence), late ?? "",
        ]
    }

    private func draw(_ answer: TimelineAnswer, into file: String) throws {
        let svg = TimelineChart(answer).svg
        guard file != "-" else { return Terminal.write(svg) }
        try OutputFile.write(svg, to: file)
    }

    private static func row(_ start: Instant, _ end: Instant?, _ value: String) -> [String] {
        [start.description, ShowText.text(end), value]
    }
}
