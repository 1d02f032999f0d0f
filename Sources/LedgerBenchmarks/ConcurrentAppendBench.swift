import EntitlementLedger
import Entitlements
import LedgerOperations

/// Durable appends of 64 callers that each wait for theirs (group commit).
struct ConcurrentAppendBench {
    let plan: BenchPlan

    private static let callers = 64

    /// What one run of all callers gave.
    private struct Outcome {
        var seconds = 0.0
        var latencies = Samples()
        var commits = 0
    }

    func rows() throws -> [BenchRow] {
        let commit = "one raw LMDB commit of such a group, no waiting"
        let headings = [
            BenchHeading(
                "append-64",
                unit: "events/s",
                against: "raw LMDB commits of groups of the same mean size"
            ),
            BenchHeading("append-64-p50", unit: "µs p50", against: commit),
            BenchHeading("append-64-p99", unit: "µs p99", against: commit),
            BenchHeading("append-64-group", unit: "events a commit", against: nil),
        ]
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        var raw = try RawLMDB(making: plan.fresh("raw"))
        try bench.record((0..<Self.callers).map { Submission(event: story($0, 0)) })
        let operations = plan.isQuick ? 100 : 400
        let rows = try plan.rows(headings) { run in
            let first = try bench.ledger.questions.size()
            let ours = try concurrently(bench, (1...operations).map { run * operations + $0 })
            let theirs = try plan.reference {
                try reference(&raw, try bench.records(from: first), commits: ours.commits)
            }
            try plan.partner?.hand(over: bench, from: first)
            let count = Double(Self.callers * operations)
            func latency(_ share: Double) -> BenchRun {
                BenchRun(
                    value: ours.latencies.percentile(share) / 1000,
                    reference: theirs.map { $0.latencies.percentile(share) / 1000 }
                )
            }
            return [
                BenchRun(value: count / ours.seconds, reference: theirs.map { count / $0.seconds }),
                latency(0.5), latency(0.99),
                BenchRun(value: count / Double(max(1, ours.commits))),
            ]
        }
        try bench.discard()
        try raw.discard()
        return rows
    }

    /// A renewal of the caller's own purchase.
    private func story(_ caller: Int, _ operation: Int) -> Event {
        BenchStory(customer: caller).event(operation * 5)
    }

    /// All callers at once, each one event after the other.
    private func concurrently(_ bench: BenchLedger, _ operations: [Int]) throws -> Outcome {
        let submissions = (0..<Self.callers).map { caller in
            operations.map { Submission(event: story(caller, $0)) }
        }
        let ledger = bench.ledger
        let commits = bench.commits
        var outcome = Outcome()
        let start = Stopwatch.now()
        let latencies: Result<[Double], any Error> = Blocking.wait {
            do {
                return .success(try await Self.recordAll(submissions, ledger))
            } catch {
                return .failure(error)
            }
        }
        outcome.seconds = Double(Stopwatch.now() - start) / 1e9
        outcome.latencies.add(contentsOf: try latencies.get())
        outcome.commits = bench.commits - commits
        return outcome
    }

    private static func recordAll(
        _ submissions: [[Submission]],
        _ ledger: Ledger
    ) async throws -> [Double] {
        try await withThrowingTaskGroup(of: [Double].self) { group in
            for own in submissions {
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    try await record(own, ledger)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func record(_ own: [Submission], _ ledger: Ledger) async throws -> [Double] {
        var latencies: [Double] = []
        latencies.reserveCapacity(own.count)
        for submission in own {
            let start = Stopwatch.now()
            let receipt = try await ledger.appender.record(concurrently: submission)
            latencies.append(Double(Stopwatch.now() - start))
            try BenchLedger.requireAppended(receipt)
        }
        return latencies
    }

    /// The same records in as many commits, one after the other.
    private func reference(
        _ raw: inout RawLMDB,
        _ records: [[UInt8]],
        commits: Int
    ) throws -> Outcome {
        var outcome = Outcome()
        let size = max(1, (records.count + commits / 2) / max(1, commits))
        for start in stride(from: 0, to: records.count, by: size) {
            let group = records[start..<min(start + size, records.count)]
            outcome.latencies.add(try Stopwatch.nanoseconds { try raw.append(group) })
            outcome.commits += 1
        }
        outcome.seconds = outcome.latencies.values.reduce(0, +) / 1e9
        return outcome
    }
}
