import ArgumentParser
import Encodings
import Entitlements
import LedgerAPI

/// The command `entitle schemas`: one line for each schema that is made from a list, for those who
/// write `schemas/`.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schemas",
        abstract: "The JSON Schemas of answers, events and catalogs, a line each.",
        discussion: HelpText.discussion(
            "Each line is a JSON document with --json and without it.",
            HelpText.noLedger,
            examples: "entitle schemas"
        ),
        shouldDisplay: false
    )

    @OptionGroup var common: CommonOptions

    func run() {
        for file in SchemaFile.all {
            Terminal.line(
                .members(["name": .string(file.name), "schema": file.document])
            )
        }
    }
}
