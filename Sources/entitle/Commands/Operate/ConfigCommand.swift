import ArgumentParser
import LedgerAPI
import LedgerOperations
import Presentation

/// The command `entitle config`.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "What commands go by where no flag says otherwise.",
        subcommands: [Show.self]
    )

    /// The command `entitle config show`.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Each setting, its value and where it comes from.",
            discussion: HelpText.discussion(
                """
                A flag counts before a variable, a variable before the configuration file \
                (ENTITLE_CONFIG, else ./entitle.json). Secrets are not shown.
                """,
                examples: "entitle config show"
            )
        )

        @OptionGroup var options: LedgerOptions

        func run() {
            var settings = Invocation.current.settings
            settings.set(.ledger, byFlag: options.ledger)
            settings.set(.environment, byFlag: options.environmentName)
            settings.set(.keyFile, byFlag: options.keyFile)
            let answer = settings.answer
            Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        }
    }
}
