import EntitlementLedger
import EventLog
import LMDBStorage
import LedgerOperations
import Salvage

/// How fast the raw pages of a log are read, and a whole salvage planned (row Z5).
struct SalvageBench {
    let plan: BenchPlan

    func rows() throws -> [BenchRow] {
        let (bench, _) = try plan.filledLedger(steps: 10, about: plan.events)
        _ = try bench.ledger.prover.checkpoint()
        let size = try bench.ledger.questions.size()
        try bench.close()
        let file = bench.path + "/log/data.mdb"
        let bytes = try FileReading.once(file).bytes
        let headings = [
            BenchHeading(
                "salvage-read",
                unit: "MB/s",
                against: "reading the same file from the disk's cache, one core"
            ),
            BenchHeading("salvage", unit: "events/s", against: nil),
        ]
        let rows = try plan.rows(headings) { _ in
            var salvage: LedgerSalvage?
            let seconds = try Stopwatch.seconds {
                salvage = try LedgerSalvage(
                    of: bench.path,
                    masterKey: BenchLedger.key,
                    rules: .records
                )
            }
            let whole = try Stopwatch.seconds {
                let report = try salvage?.plan()
                try requireRight(report?.confirmed == size, "everything is there")
            }
            let reference = try FileReading.once(file).seconds
            return [
                BenchRun(value: bytes / seconds / 1e6, reference: bytes / reference / 1e6),
                BenchRun(value: Double(size) / (seconds + whole)),
            ]
        }
        try bench.discard()
        return rows
    }
}
