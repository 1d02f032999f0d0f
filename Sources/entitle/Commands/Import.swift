import ArgumentParser
import EntitlementLedger
import Entitlements

/// The command `entitle import`.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Appends signals or events from files.",
        discussion: "Importing again appends only what is missing."
    )

    @OptionGroup var options: LedgerOptions
    @Argument(help: "NDJSON files, or - for standard input.") var files: [String]
    @Option(help: "auto, events (CloudEvents) or revenuecat (webhook bodies).")
    var format = "auto"
    @Option(help: "What a refused item does: stop, skip or quarantine.")
    var onError = "stop"
    @Flag(help: "Keeps the recordedtime that events carry, at or after the ledger's last.")
    var preserveRecordedTime = false
    @Flag(
        help: """
            Takes lines as they come in, and prints one NDJSON line for each when it is on the \
            disk: {"line":n,"outcome":"appended","sequence":n}.
            """
    )
    var acknowledge = false

    func run() throws {
        guard let format = ImportFormat(rawValue: format) else {
            throw CommandFailure(
                .usage,
                "usage",
                "no such format",
                place: "--format",
                hint: ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        guard let onError = Importer.OnError(rawValue: onError) else {
            throw CommandFailure(
                .usage,
                "usage",
                "no such choice",
                place: "--on-error",
                hint: Importer.OnError.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        Interrupt.catchSignals()
        let progress = Progress("imported")
        let (report, sequence) = try options.withLedger(writing: true) { ledger in
            var importer = Importer(
                ledger,
                format,
                onError,
                preservesRecordedTime: preserveRecordedTime,
                acknowledges: acknowledge,
                progress: progress
            )
            for file in files {
                guard try importer.run(file) else { break }
            }
            if importer.report.appended > 0 { _ = try ledger.checkpoint() }
            return (importer.report, try ledger.size())
        }
        progress.finish()
        print(report, sequence)
        if onError == .stop, let (line, refusal) = report.firstRefusal {
            throw CommandFailure(
                refusal.code == Refusal.Code.conflict.rawValue ? .conflict : .badInput,
                refusal.code,
                refusal.detail,
                place: "line \(line)" + (refusal.path.isEmpty ? "" : ": \(refusal.path)"),
                hint: "what stands before it is recorded; --on-error skip goes on"
            )
        }
        if Interrupt.isRaised { throw ExitCode.interrupted }
    }

    private func print(_ report: ImportReport, _ sequence: UInt64) {
        if options.json || acknowledge { return Terminal.line(report.json(sequence: sequence)) }
        Terminal.line(
            "appended \(report.appended), duplicate \(report.duplicate), "
                + "refused \(report.refused); the log has \(sequence) events"
        )
        for (code, count) in report.reasons { Terminal.line("  \(code): \(count)") }
    }
}
