import ArgumentParser
import Encodings
import Foundation
import LedgerBenchmarks

/// What `tools/bench client` runs.
@main
struct ClientBenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-bench",
        abstract: "Measures the library that apps use beside a dictionary on this machine."
    )

    @Flag(help: "Fewer questions: for a look, not for a claim.")
    var quick = false

    @Option(help: "Runs of each row (default: 5; quick: 3).")
    var runs: Int?

    @Option(help: "Where a client keeps what it knows.")
    var directory: String?

    @Flag(help: "One JSON document on standard output.")
    var json = false

    // As `entitle bench` has it.
    @Option(help: .hidden)
    var partnerRecords: String?

    func run() throws {
        let plan = try BenchPlan(
            events: 0,
            runs: runs ?? (quick ? 3 : 5),
            isQuick: quick,
            partnerRecords: partnerRecords,
            in: directory ?? FileManager.default.temporaryDirectory.path,
            for: BenchHost(
                progress: { _ in },
                tell: Self.tell,
                isInterrupted: { false }
            )
        )
        defer { plan.discard() }
        let report = BenchReport(rows: try ClientBench(plan: plan).rows())
        if json { Self.tell(report.json) } else { print(report.text) }
    }

    /// Prints a line that a partner waits for.
    private static func tell(_ line: JSONValue) {
        print(line.description)
        fflush(nil)
    }
}
