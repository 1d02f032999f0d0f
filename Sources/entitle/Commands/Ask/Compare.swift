import ArgumentParser
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle compare`.
struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Holds what a provider says of its customers against this ledger.",
        subcommands: [CompareRevenueCat.self]
    )
}

/// The command `entitle compare revenuecat`.
struct CompareRevenueCat: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revenuecat",
        abstract: "Every customer whose entitlements differ there and here, explained.",
        discussion: HelpText.discussion(
            """
            With --from of what RevenueCat exported, or answers of its API as `import` takes them; with \
            --customers of a list, an id a line, each of whom RevenueCat is asked about. Both sides are \
            judged by this ledger's catalogs. Nothing is written to the ledger. Exit 1 where somebody \
            differs, 65 where a line of an export could not be used, 75 where RevenueCat did not tell all. \
            With --server the ledger is that server's; files are read, and RevenueCat is asked, here.
            """,
            HelpText.times,
            examples: "entitle compare revenuecat --from transactions.csv --complete",
            "entitle compare revenuecat --customers ids.txt --output differences.ndjson"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var stores: StoresOptions
    @Option(
        parsing: .unconditional,
        help: "Effective time: RFC 3339, a date, now, -36h, -30d (default: now)."
    )
    var at: String?
    @Option(
        help: ArgumentHelp("What RevenueCat exported, or - for standard input.", valueName: "file")
    )
    var from: [String] = []
    @Option(
        name: .customLong("customers"),
        help: ArgumentHelp("A list of customers, or - for standard input.", valueName: "file")
    )
    var list: String?
    @Flag(help: "With --from: it names everybody, so whom only the ledger knows is compared too.")
    var complete = false
    @Option(help: "Writes every difference to a file, one a line.") var output: String?

    func run() throws {
        guard from.isEmpty == (list != nil), !complete || list == nil else {
            throw OperationFault(
                .usage,
                "give --from or --customers; --complete goes with --from",
                hint: "entitle compare revenuecat --from EXPORT"
            )
        }
        let now = SystemClock.now()
        let at = try at.map { try InstantArgument.parse($0, place: "--at", now: now) } ?? now
        let environment = try options.environment()
        let revenueCat = list == nil ? nil : try revenueCat()
        let place = try TemporaryLedger()
        defer { place.remove() }
        Interrupt.catchSignals(says: true)
        let draft = try place.open(catalog: nil)
        func compared(_ here: any ComparisonPlace) throws -> (ComparisonAnswer, refused: Int) {
            let comparison = ProviderComparison(
                here,
                draft: draft.ledger,
                in: environment,
                at: at
            )
            try comparison.publishCatalogs()
            return try compare(comparison, revenueCat)
        }
        do {
            let (answer, refused) =
                try server.named().map {
                    try compared(
                        ComparingServer(client: $0, environment: environment, instant: at)
                    )
                }
                ?? options.withLedger(writing: false) {
                    try compared(ComparisonSide($0, in: environment, at: at))
                }
            draft.end(warn: Terminal.warn)
            try tell(answer, refused: refused)
        } catch {
            draft.close(after: error)
            throw error
        }
    }

    /// Who differs, and how many lines could not be used.
    private func compare(
        _ comparison: ProviderComparison,
        _ revenueCat: RevenueCatAPI?
    ) throws -> (ComparisonAnswer, refused: Int) {
        let file = try output.map { try LineFile($0) }
        let progress = SharedProgress("compared customers:")
        defer { progress.finish() }
        var asked: [CustomerID]?
        var faults: [ComparisonFault] = []
        var refused = 0
        if let list, let revenueCat {
            let listed = try CustomerArgument.listed(in: list)
            asked = listed
            faults = try Blocking.value {
                try await comparison.ask(
                    revenueCat,
                    about: listed,
                    clock: SystemClock.now,
                    isInterrupted: { Interrupt.isRaised },
                    progress: { progress.show(UInt64($0), of: UInt64(listed.count)) }
                )
            }
        } else {
            let report = try comparison.take(from, isInterrupted: { Interrupt.isRaised })
            refused = report.refused
            for (file, line, refusal) in report.refusals.prefix(Self.shownRefusals) {
                let detail = Terminal.plain(refusal.detail)
                Terminal.note("\(file), line \(line): \(detail) [\(refusal.code)]")
            }
        }
        let answer = try comparison.run(
            asked,
            without: faults,
            isComplete: complete,
            isInterrupted: { Interrupt.isRaised },
            difference: { try file?.write(AnswerText($0)) },
            progress: { progress.show(UInt64($0), of: nil) }
        )
        try file?.close()
        return (answer, refused)
    }

    /// Refused lines that are named.
    private static let shownRefusals = 20

    private func tell(_ answer: ComparisonAnswer, refused: Int) throws {
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if Interrupt.isRaised { throw ExitCode(.interrupted) }
        if refused > 0 {
            throw OperationFault(
                .malformed,
                "\(refused) lines of the export could not be used",
                place: from.joined(separator: ", "),
                hint: "mend those that are named above, and compare again"
            )
        }
        if answer.untold > 0 { throw ExitCode(.tryAgain) }
        if answer.differing > 0 { throw ExitCode(.no) }
    }

    /// Who asks RevenueCat.
    private func revenueCat() throws -> RevenueCatAPI {
        guard let configuration = try stores.configuration(at: options.path),
            let revenueCat = RevenueCatAPI(
                configuration,
                policy: StoresOptions.patience,
                clock: SystemClock.now
            )
        else { throw StoresOptions.notConfigured(options) }
        return revenueCat
    }
}
