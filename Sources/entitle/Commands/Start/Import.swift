import ArgumentParser
import EntitlementLedger
import Entitlements
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle import`.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Appends signals or events from files.",
        discussion: HelpText.discussion(
            "Importing again appends only what is missing.",
            examples: "entitle import notifications.ndjson",
            "entitle import history.ndjson --format events --on-error quarantine"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @Argument(help: "NDJSON files, CSV that RevenueCat exported, or - for standard input.")
    var files: [String] = []
    @Option(
        help: """
            auto, events (CloudEvents), app-store (signed), play (notifications, answers, signed \
            purchases) or revenuecat (webhooks, answers, exports).
            """
    )
    var format = "auto"
    @OptionGroup var stores: StoresOptions
    @Option(help: "What a refused item does: stop, skip or quarantine.")
    var onError = "stop"
    @Flag(help: "Keeps the recordedtime that events carry, at or after the ledger's last.")
    var preserveRecordedTime = false
    @Flag(help: "Imports what was quarantined before; what is refused again stays there.")
    var retryQuarantine = false
    @Flag(
        help: """
            Takes lines as they come in, and prints one NDJSON line for each when it is on the \
            disk: {"line":n,"outcome":"appended","sequence":n}.
            """
    )
    var acknowledge = false

    func run() throws {
        guard let format = ImportFormat(rawValue: format) else {
            throw OperationFault(
                .usage,
                "no such format",
                place: "--format",
                hint: ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        guard let onError = Importer.OnError(rawValue: onError) else {
            throw OperationFault(
                .usage,
                "no such choice",
                place: "--on-error",
                hint: Importer.OnError.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        guard files.isEmpty == retryQuarantine else {
            throw OperationFault(.usage, "FILE or --retry-quarantine is missing")
        }
        var choices = Importer.Options()
        choices.format = format
        choices.onError = retryQuarantine ? .quarantine : onError
        choices.preservesRecordedTime = preserveRecordedTime
        if acknowledge { choices.acknowledge = Self.acknowledge }
        if server.server != nil, choices.onError == .quarantine {
            throw OperationFault(
                .usage,
                "what is quarantined is kept in the ledger's own directory",
                place: "--server",
                hint: "--on-error skip goes on without keeping it"
            )
        }
        if choices.onError == .quarantine, !retryQuarantine,
            LedgerDirectory.isNode(at: options.path)
        {
            throw OperationFault(
                .usage,
                "what is quarantined stands on one machine, where no other's erasure reaches it",
                place: "--on-error",
                hint: "--on-error skip goes on, and --json names each line that was refused"
            )
        }
        Interrupt.catchSignals(says: true)
        let progress = SharedProgress("imported")
        choices.progress = { done in
            let way = done.totalBytes.map { (done: done.bytes, total: $0) }
            progress.show(done.items, of: nil, after: way)
        }
        choices.isInterrupted = { Interrupt.isRaised }
        let (report, sequence) = try imported(choices)
        progress.finish()
        print(report, sequence)
        if onError == .stop, !retryQuarantine, let (file, line, refusal) = report.refusals.first {
            let isConflict = refusal.code == Refusal.Code.conflict.rawValue
            throw OperationFault(
                OperationFault.Code(refusal.code, isConflict ? .conflict : .badInput),
                refusal.detail,
                place: (file == "-" ? "" : file + ", ") + "line \(line)"
                    + (refusal.path.isEmpty ? "" : ": \(refusal.path)"),
                hint: "what stands before it is recorded; --on-error skip goes on"
            )
        }
        if Interrupt.isRaised { throw ExitCode(.interrupted) }
    }

    /// Imports into the server that holds the ledger, which knows stores by itself; else into the ledger.
    private func imported(_ choices: Importer.Options) throws -> (ImportReport, UInt64) {
        if let client = try server.writing(options) {
            let place = ImportingServer(client: client, options: choices)
            var importer = Importer(into: place, choices)
            try run(&importer, choices)
            return (importer.report, try place.size())
        }
        var choices = choices
        let configuration = try stores.configuration(at: options.path)
        choices.appStore = try configuration.flatMap { try StoresFile.appStoreVerifier($0) }
        choices.playStore = configuration?.playStore
        return try options.withLedger(writing: true) { [choices] ledger in
            var importer = Importer(ledger, choices)
            try run(&importer, choices)
            if importer.report.appended > 0 {
                try Signing.signIfAllowed(ledger, warn: Terminal.warn)
            }
            return (importer.report, try ledger.questions.size())
        }
    }

    private func run(_ importer: inout Importer, _ choices: Importer.Options) throws {
        let quarantine = try choices.onError == .quarantine ? quarantine() : nil
        if retryQuarantine, let quarantine {
            try importer.retry(quarantine)
        } else {
            try importer.run(files, quarantine: quarantine)
        }
    }

    private func quarantine() throws -> ImportQuarantine {
        try ImportQuarantine(ofLedgerAt: options.path, masterKey: options.keyOptions.read())
    }

    /// Says what became of items.
    @Sendable private static func acknowledge(_ lines: [ImportedLine]) {
        Terminal.write(lines.map { AnswerText($0).description + "\n" }.joined())
    }

    private func print(_ report: ImportReport, _ sequence: UInt64) {
        if options.json || acknowledge {
            return Terminal.line(AnswerText(report.answer(sequence: sequence)))
        }
        Terminal.line(
            "appended \(report.appended), duplicate \(report.duplicate), "
                + "refused \(report.refused); the log has \(sequence) events"
        )
        for (code, count) in report.reasons { Terminal.line("  \(code): \(count)") }
        // Where it stops at one, that one is the fault.
        if retryQuarantine || onError != Importer.OnError.stop.rawValue {
            for (file, line, refusal) in report.refusals.prefix(Self.listedLines) {
                // Both may repeat what stands in the line.
                let (path, detail) = (Terminal.plain(refusal.path), Terminal.plain(refusal.detail))
                Terminal.line("    \(file):\(line): \(path.isEmpty ? "" : path + ": ")\(detail)")
            }
        }
        // Events alone are what one expects.
        if format == ImportFormat.auto.rawValue,
            report.formats.contains(where: { $0.format != .events })
        {
            let taken = report.formats.map { "\($0.format.rawValue) \($0.count)" }
            Terminal.line("  taken for: " + taken.joined(separator: ", "))
        }
        guard report.differing > 0 else { return }
        Terminal.line("  \(report.differing) known, with other content than what stands:")
        for (file, line, sequence) in report.differences.prefix(Self.listedLines) {
            Terminal.line("    \(file):\(line): event \(sequence)")
        }
    }

    /// Refused lines, and repeats with other content, that are listed for people; the JSON has more.
    private static let listedLines = 5
}
