import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle can`.
struct Can: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can",
        abstract: "Whether a customer may use a feature: exit 0 yes, 1 no.",
        discussion: HelpText.discussion(
            HelpText.times,
            examples: "entitle can alice export",
            "entitle can alice export --at 2026-04-10 --known 2026-04-01"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "A feature id.") var feature: String

    func run() throws {
        try FeatureArgument.requireName(feature)
        let question = CustomerQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            point: try point.point()
        )
        if let client = try server.named() { return try ask(client, question) }
        let answer = try options.withLedger(writing: false) { ledger in
            let answer = try ledger.questions.accessAnswer(feature, question)
            if !answer.access.isAllowed {
                try FeatureArgument.require(feature, ledger, question.point.knownAt)
            }
            return answer
        }
        Terminal.line(options.json ? answer.text.description : answer.answer.textLine)
        if !answer.access.isUsable { throw ExitCode(.no) }
    }
}

extension Can {
    private func ask(_ client: ServerClient, _ question: CustomerQuestion) throws {
        let call = question.call("features", feature, more: [("token", "true")])
        let answer = try FeatureArgument.asking { try client.answer(call, as: AccessAnswer.self) }
        Terminal.tell(AnswerText(answer), or: [answer.textLine], asJSON: options.json)
        if !answer.access.isUsable { throw ExitCode(.no) }
    }
}

/// A feature's id as an argument.
enum FeatureArgument {
    /// Asks a server about a feature, and says as a command does where no catalog lists it.
    static func asking<Answer>(_ body: () throws -> Answer) throws -> Answer {
        do {
            return try body()
        } catch let fault as OperationFault {
            throw fault.ofFeatureArgument
        }
    }

    /// Refuses what is no name of a feature: nothing, or what is longer than any.
    static func requireName(_ feature: String) throws {
        guard feature.isEmpty || feature.utf8.count > FieldShape.nameByteLimit else { return }
        throw OperationFault(unknownFeatureNear: [])
    }

    /// Refuses a feature that no catalog of the prefix lists.
    static func require(
        _ feature: String,
        _ ledger: Ledger,
        _ known: BitemporalPoint.Known
    ) throws {
        let listed = try ledger.questions.catalogHistory(
            size: ledger.questions.prefix(knownAt: known)
        ).featureIDs
        guard !listed.contains(feature) else { return }
        throw OperationFault(unknownFeature: feature, among: listed.texts)
    }
}
