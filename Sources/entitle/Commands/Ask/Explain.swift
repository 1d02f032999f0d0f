import ArgumentParser
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle explain`.
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Why a customer has or lacks a feature, and what would change it.",
        discussion: HelpText.discussion(
            HelpText.times,
            examples: "entitle explain alice export",
            "entitle explain alice export --at -30d --json",
            "entitle explain alice export --for support --zone Europe/Berlin"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var access: AccessOptions

    @Option(
        name: .customLong("for"),
        help: "Who reads it: \(ChoiceArgument.words(Audience.self)) (default: developer).",
        transform: ChoiceArgument.read
    )
    var audience = Audience.developer

    @Option(
        name: .customLong("lang"),
        help: "The sentences' language: \(ChoiceArgument.words(Language.self)) (default: en).",
        transform: ChoiceArgument.read
    )
    var language = Language.english

    @Option(
        name: .customLong("zone"),
        help: "The time zone in which instants are told, such as Europe/Berlin (default: UTC).",
        transform: ZoneArgument.read
    )
    var zone = NamedZone.utc

    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "A feature id.") var feature: String

    func run() throws {
        try FeatureArgument.requireName(feature)
        let question = CustomerQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            point: try point.point()
        )
        if let client = try access.isNoted ? server.writing(options) : server.named() {
            let call = question.call(
                "explain",
                more: [
                    ("feature", feature), ("for", audience.rawValue), ("lang", language.rawValue),
                    ("zone", zone.name),
                ],
                because: access.reason
            )
            let answer = try FeatureArgument.asking {
                try client.answer(call, as: ExplanationAnswer.self)
            }
            return Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        }
        let answer = try options.withLedger(writing: access.isNoted) { ledger in
            try access.note("explain", of: question.customer, question.environment, ledger)
            let explained = try ledger.questions.explain(
                feature,
                question,
                to: audience,
                in: language,
                zone
            )
            switch explained {
            case .explained(let answer): return answer
            case .unknownFeature(let near): throw OperationFault(unknownFeatureNear: near)
            }
        }
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
    }
}
