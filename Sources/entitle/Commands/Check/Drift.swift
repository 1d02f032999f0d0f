import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle drift`.
struct Drift: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift",
        abstract: "Folds customers again from the log and compares with what the views answer.",
        discussion: HelpText.discussion(
            """
            Exit 3 if a view answers otherwise. A server checks a rolling sample by itself, and with \
            it the answers that it keeps.
            """,
            examples: "entitle drift"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @Option(help: "About so many customers, from a random one on (default: 1000).")
    var sample: Int?
    @Flag(help: "All customers.") var all = false

    func run() throws {
        guard sample == nil || !all else {
            throw OperationFault(.usage, "--sample and --all exclude one another")
        }
        if let sample, sample < 1 {
            throw OperationFault(.usage, "expected 1 or more", place: "--sample")
        }
        let environment = try options.environment()
        if let client = try server.named() {
            let size = sample.map { ("sample", String($0)) } ?? ("all", String(all))
            let call = ServerCall.get(["v1", "drift"], [("environment", environment.name), size])
            return try show(client.answer(call.untilDone, as: DriftAnswer.self))
        }
        let report = try options.withLedger(writing: false) { ledger in
            try ledger.auditor.drift(
                of: CustomerSample(
                    from: all ? 0 : .random(in: 0...ledger.auditor.highestSampleStart()),
                    count: all ? nil : sample ?? CustomerSample.usualCount
                ),
                environment: environment,
                at: SystemClock.now()
            )
        }
        try show(report.answer)
    }

    private func show(_ answer: DriftAnswer) throws {
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        guard answer.isOK else {
            throw OperationFault(
                .drift,
                "the views answer otherwise than the log",
                hint: "`entitle rebuild` makes them anew; `entitle audit` says what is damaged"
            )
        }
    }
}
