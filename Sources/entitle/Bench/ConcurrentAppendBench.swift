import Dispatch
import EntitlementLedger
import Entitlements
import Synchronization

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

    private struct Pair {
        var rate: BenchRun
        var tail: BenchRun
    }

    func rows() throws -> [BenchRow] {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        var raw = try RawLMDB(making: plan.fresh("raw"))
        try bench.record((0..<Self.callers).map { Submission(event: story($0, 0)) })
        let operations = plan.isQuick ? 50 : 200
        let pairs = try plan.measured("append-64") { run in
            let first = try bench.ledger.size()
            let ours = try concurrently(bench, (1...operations).map { run * operations + $0 })
            let theirs = try reference(
                &raw,
                try bench.records(from: first),
                commits: ours.commits
            )
            let count = Double(Self.callers * operations)
            return Pair(
                rate: BenchRun(value: count / ours.seconds, reference: count / theirs.seconds),
                tail: BenchRun(
                    value: ours.latencies.percentile(0.99) / 1000,
                    reference: theirs.latencies.percentile(0.99) / 1000
                )
            )
        }
        try bench.discard()
        try raw.discard()
        return [
            BenchRow(
                "append-64",
                unit: "events/s",
                against: "raw LMDB commits of groups of the same mean size",
                pairs.map(\.rate)
            ),
            BenchRow(
                "append-64-p99",
                unit: "µs p99",
                against: "one such raw commit, no waiting",
                pairs.map(\.tail)
            ),
        ]
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
        let latencies: [[Double]]
        let start = Stopwatch.now()
        latencies = try Self.waiting {
            try await withThrowingTaskGroup(of: [Double].self) { group in
                for own in submissions {
                    group.addTask { try await Self.record(own, ledger) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        outcome.seconds = Double(Stopwatch.now() - start) / 1e9
        for own in latencies { outcome.latencies.add(contentsOf: own) }
        outcome.commits = bench.commits - commits
        return outcome
    }

    private static func record(_ own: [Submission], _ ledger: Ledger) async throws -> [Double] {
        var latencies: [Double] = []
        latencies.reserveCapacity(own.count)
        for submission in own {
            let start = Stopwatch.now()
            _ = try await ledger.record(concurrently: submission)
            latencies.append(Double(Stopwatch.now() - start))
        }
        return latencies
    }

    /// Runs tasks to their end from a thread that is none of theirs.
    private static func waiting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let holder = Holder<Value>()
        Task.detached {
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await body())
            } catch {
                outcome = .failure(error)
            }
            holder.outcome.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        guard let outcome = holder.outcome.withLock({ $0 }) else {
            preconditionFailure("the task set its outcome before it signalled")
        }
        return try outcome.get()
    }

    private final class Holder<Value: Sendable>: Sendable {
        let outcome = Mutex<Result<Value, any Error>?>(nil)
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
