import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle catalog`.
struct CatalogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "Publishes, shows, validates and compares catalogs.",
        subcommands: [Publish.self, Shown.self, Validate.self, Gates.self, CatalogDiff.self]
    )

    static let noCatalog = OperationFault(.noCatalog, "no catalog was published")

    /// Asks a server about the catalog, and says as a command does where there is none.
    static func asking<Answer>(_ body: () throws -> Answer) throws -> Answer {
        do {
            return try body()
        } catch let fault as OperationFault
            where fault.code.rawValue == ProblemCode.notFound.rawValue
        {
            throw noCatalog
        }
    }

    struct Publish: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "publish",
            abstract: "Publishes a catalog from an effective time on.",
            discussion: HelpText.discussion(
                examples: "entitle catalog publish catalog.json --effective 2026-04-01"
            )
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var requested: RequestOptions
        @Argument(help: "The catalog document, or - for standard input.") var file: String
        @Option(parsing: .unconditional, help: "From when it is in force (default: now).")
        var effective: String?

        func run() throws {
            let document = try CatalogFile.read(file)
            for doubt in CatalogFile.doubts(document) {
                let (path, detail) = (Terminal.plain(doubt.path), Terminal.plain(doubt.detail))
                Terminal.warn("\(path): \(detail) [\(doubt.code.rawValue)]")
            }
            let effective = try effective.map {
                try InstantArgument.parse($0, place: "--effective")
            }
            let request = try requested.request(options, source: Source.catalog)
            let asked = AskedRequest(
                .change(
                    .post,
                    ["v1", "catalog"],
                    effective.map { [("effective", $0.description)] } ?? [],
                    document,
                    as: request.id
                )
            ) { _ in "published the catalog" }
            try requested.record(request, about: nil, options, asking: asked) { ledger in
                Recorded(
                    receipt: try CatalogFile.publish(
                        document,
                        effective: effective,
                        id: request.id,
                        ledger
                    ),
                    done: "published the catalog"
                )
            }
        }
    }

    struct Shown: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Shows the catalog in force at T, as known at R.",
            discussion: HelpText.discussion(
                HelpText.times,
                examples: "entitle catalog show --at 2026-04-01"
            )
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @OptionGroup var point: PointOptions

        func run() throws {
            let point = try point.point()
            if let client = try server.named() {
                let parameters = point.parameters("at", "known", "knownSequence")
                let call = ServerCall.get(["v1", "catalog"], parameters)
                return Terminal.line(try CatalogCommand.asking { try client.json(call) })
            }
            let document = try options.withLedger(writing: false) { ledger in
                try ledger.questions.catalogDocument(at: point)
            }
            guard let document else { throw CatalogCommand.noCatalog }
            Terminal.line(document)
        }
    }

    struct Validate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "validate",
            abstract: "Lists every fault of a catalog; writes nothing.",
            discussion: HelpText.discussion(
                HelpText.noLedger,
                examples: "entitle catalog validate catalog.json"
            )
        )

        @OptionGroup var common: CommonOptions
        @Argument(help: "The catalog document, or - for standard input.") var file: String

        func run() throws {
            let document = try CatalogFile.read(file)
            let answer = CatalogValidationAnswer(
                faults: CatalogFile.faults(document).map { CatalogFaultAnswer($0) },
                warnings: CatalogFile.doubts(document).map { CatalogFaultAnswer($0) }
            )
            Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: common.json)
            if !answer.isOK { throw ExitCode(.badInput) }
        }
    }
}
