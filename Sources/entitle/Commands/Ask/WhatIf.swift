import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle whatif`.
struct WhatIf: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whatif",
        abstract: "Who gains and who loses what at T by another catalog; writes nothing.",
        discussion: HelpText.discussion(
            """
            The other catalog stands from --effective on (default: T), in place of every catalog \
            that was published for then or later. What was bought before is still read in the \
            catalog of its time, and what was decided when it was recorded stands.
            """,
            HelpText.times,
            examples: "entitle whatif --catalog next.json --fail-on-loss"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var other: OtherCatalogOptions
    @Option(help: "The other catalog's document, or - for standard input.") var catalog: String
    @Option(help: "Writes every gain and loss to a file, one a line.") var output: String?
    @Flag(help: "Exit 1 if somebody loses something.") var failOnLoss = false

    func run() throws {
        let document = try CatalogFile.read(catalog)
        let question = try other.question(
            CatalogFile.validated(document),
            point.point(),
            options.environment()
        )
        if let client = try server.named() {
            guard output == nil else {
                throw OperationFault(
                    .usage,
                    "a server lists a part: every gain and loss is written beside the ledger",
                    place: "--output",
                    hint: "--samples \(WhatIfQuestion.mostSamples) lists so many of each"
                )
            }
            let call = question.call("whatif", document: document)
            return try show(client.answer(call.untilDone, as: WhatIfAnswer.self))
        }
        let progress = SharedProgress("compared customers:")
        let file = try output.map { try LineFile($0) }
        var line: (@Sendable (WhatIfLine) throws -> Void)?
        if let file { line = { try file.write(AnswerText($0)) } }
        let report = try options.withLedger(writing: false) { ledger in
            try ledger.questions.whatIf(question, line: line) { progress.show($0, of: nil) }
        }
        progress.finish()
        try file?.close()
        try show(report)
    }

    private func show(_ report: WhatIfAnswer) throws {
        Terminal.tell(AnswerText(report), or: report.textLines, asJSON: options.json)
        if failOnLoss && report.losing > 0 { throw ExitCode(.no) }
    }
}

extension WhatIfQuestion {
    /// The question as a server is asked it, about the document of its catalog.
    func call(_ path: String..., document: JSONValue) -> ServerCall {
        .change(
            .post,
            ["v1"] + path,
            [("environment", environment.name)] + point.parameters("at", "known", "knownSequence")
                + [("effective", effective.description), ("samples", String(sampleLimit))],
            document
        )
    }
}

/// How another catalog is held against those of the log.
struct OtherCatalogOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: "From when on the other catalog stands in place of all others (default: T)."
    )
    var effective: String?

    @Option(help: "How many gains and how many losses are listed at most (default: 1000).")
    var samples = WhatIfQuestion.usualSampleLimit

    func question(
        _ catalog: Catalog,
        _ point: BitemporalPoint,
        _ environment: StoreEnvironment
    ) throws -> WhatIfQuestion {
        guard (0...WhatIfQuestion.mostSamples).contains(samples) else {
            throw OperationFault(
                .usage,
                "expected 0 to \(WhatIfQuestion.mostSamples)",
                place: "--samples",
                hint: "`whatif --output FILE` writes all of them"
            )
        }
        var question = WhatIfQuestion(
            catalog: catalog,
            point: point,
            environment: environment,
            effective: try effective.map { try InstantArgument.parse($0, place: "--effective") }
        )
        question.sampleLimit = samples
        return question
    }
}
