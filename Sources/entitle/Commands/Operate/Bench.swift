import ArgumentParser
import Encodings
import Foundation
import LedgerBenchmarks

/// `entitle bench`.
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures speed and space beside references on this machine.",
        discussion: HelpText.discussion(
            """
            Every figure stands beside a reference that does the same work on the same bytes in
            the same run: the ratio is what compares between machines. Ledgers are made in a
            temporary directory (--directory, else $TMPDIR) and removed.
            """,
            HelpText.noLedger,
            examples: "entitle bench access --quick"
        )
    )

    @OptionGroup var common: CommonOptions

    @Argument(
        help: "\(BenchTopic.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var topics = [BenchTopic.all]

    @Flag(help: "Fewer events and runs: for a look, not for a claim.")
    var quick = false

    @Option(help: "Events of the larger benchmarks (default: 200000; quick: 20000).")
    var events: Int?

    @Option(help: "Runs of each row (default: 5; quick: 3).")
    var runs: Int?

    @Option(help: "Where ledgers are made; its disk is what is measured.")
    var directory: String?

    // How tools/bench measures other people's work on the same records, run by run.
    @Option(help: .hidden)
    var partnerRecords: String?

    private static let eventRange = 5_000...20_000_000
    private static let runRange = 1...100

    func validate() throws {
        if let runs, !Self.runRange.contains(runs) {
            throw ValidationError(
                "--runs: from \(Self.runRange.lowerBound) to \(Self.runRange.upperBound)"
            )
        }
        if let events, !Self.eventRange.contains(events) {
            throw ValidationError(
                "--events: from \(Self.eventRange.lowerBound) to \(Self.eventRange.upperBound)"
            )
        }
    }

    func run() throws {
        Interrupt.catchSignals(says: true)
        let plan = try BenchPlan(
            events: events ?? (quick ? 20_000 : 200_000),
            runs: runs ?? (quick ? 3 : 5),
            isQuick: quick,
            partnerRecords: partnerRecords,
            in: directory ?? FileManager.default.temporaryDirectory.path,
            for: BenchHost(
                progress: { if Terminal.isErrorTerminal { Terminal.note($0) } },
                tell: { Terminal.line($0) },
                isInterrupted: { Interrupt.isRaised }
            )
        )
        defer { plan.discard() }
        let report = try plan.measure(topics)
        if common.json {
            Terminal.line(report.json)
        } else {
            Terminal.line(report.text)
        }
    }
}

extension BenchTopic: ExpressibleByArgument {}
