import EntitlementLedger
import Entitlements
import EventLog

/// Durable appends of one caller, and in groups.
struct AppendBench {
    let plan: BenchPlan

    func rows() throws -> [BenchRow] {
        try [
            single("append-1", isNewStream: false),
            single("append-1-new-stream", isNewStream: true),
        ] + ConcurrentAppendBench(plan: plan).rows() + [groups()]
    }

    // MARK: One by one

    /// Latency of one event a commit, each beside a raw commit of the same record.
    private func single(_ name: String, isNewStream: Bool) throws -> BenchRow {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        var raw = try RawLMDB(making: plan.fresh("raw"))
        let operations = plan.isQuick ? 100 : 400
        if !isNewStream {
            try bench.record((0..<operations).map { submission(customer: $0, step: 0) })
        }
        let runs = try plan.measured(name) { run in
            var ours = Samples()
            var theirs = Samples()
            for operation in 0..<operations {
                let next =
                    isNewStream
                    ? submission(customer: run * operations + operation, step: 0)
                    : submission(customer: operation, step: run + 1, alwaysRenewing: true)
                let size = try bench.ledger.size()
                ours.add(try Stopwatch.nanoseconds { try bench.record([next]) } / 1000)
                let record = try bench.records(from: size)
                theirs.add(try Stopwatch.nanoseconds { try raw.append(record) } / 1000)
            }
            return BenchRun(value: ours.median, reference: theirs.median)
        }
        try bench.discard()
        try raw.discard()
        return BenchRow(
            name,
            unit: "µs p50",
            against: "raw LMDB, one put and commit of the record",
            runs
        )
    }

    private func submission(
        customer: Int,
        step: Int,
        alwaysRenewing: Bool = false
    ) -> Submission {
        // Steps of one remainder by five are renewals: they name the purchase's stream alone.
        Submission(
            event: BenchStory(customer: customer).event(alwaysRenewing ? step * 5 : step)
        )
    }

    // MARK: In groups

    private static let groupSize = 1000

    /// Groups of 1 000, the views caught up at the end.
    private func groups() throws -> BenchRow {
        let events = BenchEvents(about: plan.events, steps: 10)
        let runs = try plan.measured("append-1000") { _ in
            let bench = try BenchLedger(making: plan.fresh("ledger"))
            var ours = try bench.record(all: events, groupsOf: Self.groupSize)
            var raw = try RawLMDB(making: plan.fresh("raw"))
            var theirs = 0.0
            var group: [[UInt8]] = []
            try bench.scan(from: 1) { _, record in
                group.append(record.copy())
                guard group.count == Self.groupSize else { return }
                theirs += try Stopwatch.seconds { try raw.appendIndexed(group) }
                group.removeAll(keepingCapacity: true)
            }
            ours += try Stopwatch.seconds { try bench.close() }
            try bench.discard()
            try raw.discard()
            let count = Double(events.count)
            return BenchRun(value: count / ours, reference: count / theirs)
        }
        return BenchRow(
            "append-1000",
            unit: "events/s",
            against: "raw LMDB log with two B-tree indexes, the same groups",
            runs
        )
    }
}
