import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LMDBStorage

/// The command `entitle import`.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Appends signals or events from files.",
        discussion: "Importing again appends only what is missing."
    )

    @OptionGroup var options: LedgerOptions
    @Argument(help: "NDJSON files, or - for standard input.") var files: [String] = []
    @Option(help: "auto, events (CloudEvents), app-store (signed) or revenuecat (webhooks).")
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
        guard files.isEmpty == retryQuarantine else {
            throw CommandFailure(.usage, "usage", "FILE or --retry-quarantine is missing")
        }
        let reader = ItemReader(format: format, appStore: try stores.appStore(options))
        Interrupt.catchSignals()
        let progress = Progress("imported")
        let (report, sequence) = try options.withLedger(writing: true) { ledger in
            var importer = Importer(
                ledger,
                reader,
                retryQuarantine ? .quarantine : onError,
                preservesRecordedTime: preserveRecordedTime,
                acknowledges: acknowledge,
                progress: progress
            )
            try retryQuarantine ? retry(&importer) : importFiles(&importer)
            if importer.report.appended > 0 { try Signing.signIfAllowed(ledger) }
            return (importer.report, try ledger.size())
        }
        progress.finish()
        print(report, sequence)
        if onError == .stop, !retryQuarantine, let (line, refusal) = report.firstRefusal {
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

    private func importFiles(_ importer: inout Importer) throws {
        var quarantine = try importer.onError == .quarantine ? QuarantineShelf.open(options) : nil
        for file in files {
            let goesOn = try importer.run(file) { importer in
                try quarantine?.add(importer.takeRefused(), day: QuarantineShelf.today)
            }
            if !goesOn { return }
        }
    }

    private func retry(_ importer: inout Importer) throws {
        var quarantine = try QuarantineShelf.open(options)
        for day in try quarantine.days() {
            let lines = try quarantine.items(of: day).enumerated().map { index, bytes in
                LineReader.Line(number: index + 1, bytes: bytes)
            }
            try importer.run(lines)
            try quarantine.replace(day, with: importer.takeRefused())
        }
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
