import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle catalog diff`.
struct CatalogDiff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What a catalog would change, and for whom; writes nothing.",
        discussion: HelpText.discussion(HelpText.times, examples: "entitle catalog diff next.json")
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var other: OtherCatalogOptions
    @Argument(help: "The other catalog's document, or - for standard input.") var file: String

    func run() throws {
        let document = try CatalogFile.read(file)
        let question = try other.question(
            CatalogFile.validated(document),
            point.point(),
            options.environment()
        )
        if let client = try server.named() {
            let call = question.call("catalog", "diff", document: document)
            return show(try client.answer(call.untilDone, as: CatalogDifferenceAnswer.self))
        }
        show(
            try options.withLedger(writing: false) { ledger in
                try ledger.questions.catalogDifference(to: document, question)
            }
        )
    }

    private func show(_ answer: CatalogDifferenceAnswer) {
        Terminal.tell(
            AnswerText(answer),
            or: answer.difference.textLines + answer.affected.textLines,
            asJSON: options.json
        )
    }
}
