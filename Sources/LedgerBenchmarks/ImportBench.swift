import Encodings
import EntitlementLedger
import Foundation
import LedgerOperations

/// NDJSON text through the importer, end to end.
struct ImportBench {
    let plan: BenchPlan

    func rows() throws -> [BenchRow] {
        let file = EventsFile(path: plan.fresh("events") + ".ndjson")
        let count = try file.write(BenchEvents(about: plan.events, steps: 10))
        // What is left behind stands in the system's temporary directory.
        defer { try? FileManager.default.removeItem(atPath: file.path) }
        let headings = BenchHeading.events(
            "import",
            against: "Foundation's JSONDecoder alone, the same lines, one core"
        )
        return try plan.rows(headings) { _ in
            let ours = try importing(file.path, count)
            return ours.runs(of: Double(count), reference: try file.decodingSeconds())
        }
    }

    /// What it costs until all events stand durably in a new ledger, its views caught up.
    private func importing(_ file: String, _ count: Int) throws -> Cost {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        let cost = try Stopwatch.cost {
            var options = Importer.Options()
            options.format = .events
            var importer = Importer(bench.ledger, options)
            try importer.run([file])
            try requireRight(importer.report.appended == count, "all are imported")
            _ = try bench.ledger.prover.checkpoint()
            try bench.close()
        }
        try bench.discard()
        return cost
    }
}
