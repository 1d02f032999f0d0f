import EntitlementLedger
import Foundation

/// NDJSON text through the importer, end to end.
struct ImportBench {
    let plan: BenchPlan

    func row() throws -> BenchRow {
        let file = EventsFile(path: plan.fresh("events") + ".ndjson")
        let count = try file.write(BenchEvents(about: plan.events, steps: 10))
        defer { try? FileManager.default.removeItem(atPath: file.path) }
        let heading = BenchHeading(
            "import",
            unit: "events/s",
            against: "Foundation's JSONDecoder alone, the same lines, one core"
        )
        return try plan.row(heading) { _ in
            let ours = try importingSeconds(file.path, count)
            return BenchRun(
                value: Double(count) / ours,
                reference: Double(count) / (try file.decodingSeconds())
            )
        }
    }

    /// Seconds until all events stand durably in a new ledger, its views caught up.
    private func importingSeconds(_ file: String, _ count: Int) throws -> Double {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        let seconds = try Stopwatch.seconds {
            var importer = Importer(
                bench.ledger,
                ItemReader(format: .events, appStore: nil),
                .stop,
                preservesRecordedTime: false,
                acknowledges: false,
                progress: Progress("imported")
            )
            let isWhole = try importer.run(file)
            try requireRight(isWhole && importer.report.appended == count, "all are imported")
            _ = try bench.ledger.checkpoint()
            try bench.close()
        }
        try bench.discard()
        return seconds
    }
}
