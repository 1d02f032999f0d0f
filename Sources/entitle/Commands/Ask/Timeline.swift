import ArgumentParser
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle timeline`.
struct Timeline: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "A customer's stretches and events, in both times.",
        discussion: HelpText.discussion(
            HelpText.times,
            examples: "entitle timeline alice",
            "entitle timeline alice --known 2026-05-01 --svg alice.svg"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
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
        if let client = try access.isNoted ? server.writing(options) : server.named() {
            let call = question.call("timeline", because: access.reason)
            let answer = try client.answer(call, as: TimelineAnswer.self)
            return try show(answer, AnswerText(answer))
        }
        let answer = try options.withLedger(writing: access.isNoted) { ledger in
            try access.note("timeline", of: question.customer, question.environment, ledger)
            return try ledger.questions.timelineAnswer(question)
        }
        try show(answer.answer, answer.text)
    }

    private func show(_ answer: TimelineAnswer, _ text: AnswerText) throws {
        if let svg {
            try draw(answer, into: svg)
            // Standard output has the JSON that is asked for, unless the drawing stands there.
            guard options.json, svg != "-" else { return }
        }
        if options.json { return Terminal.line(text) }
        Terminal.line("\(customer), from \(answer.question.sequence) events")
        Terminal.lines(answer.textLines(columns: Self.columns, isFull: all))
    }

    /// Characters of a line that every terminal has.
    private static let columns = 80

    private func draw(_ answer: TimelineAnswer, into file: String) throws {
        let svg = TimelineChart(answer).svg
        guard file != "-" else { return Terminal.write(svg) }
        try OutputFile.write(svg, to: file)
    }
}
