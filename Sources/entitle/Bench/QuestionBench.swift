import EntitlementLedger
import Entitlements

/// Questions in process, each beside a look-up of as many customers.
struct QuestionBench {
    let plan: BenchPlan

    /// The median and the tail of one run, both sides.
    private struct Run {
        var middle: BenchRun
        var tail: BenchRun

        init(_ ours: Samples, _ theirs: Samples, over divisor: Double) {
            middle = BenchRun(
                value: ours.median / divisor,
                reference: theirs.median / divisor
            )
            tail = BenchRun(
                value: ours.percentile(0.99) / divisor,
                reference: theirs.percentile(0.99) / divisor
            )
        }
    }

    private static let referenceName = "one mdb_get, 16-byte key, 64-byte value, as many customers"

    private func rows(_ name: String, _ unit: String, _ runs: [Run]) -> [BenchRow] {
        [
            BenchRow(
                name,
                unit: unit + " p50",
                against: Self.referenceName,
                runs.map(\.middle)
            ),
            BenchRow(
                name + "-p99",
                unit: unit + " p99",
                against: Self.referenceName,
                runs.map(\.tail)
            ),
        ]
    }

    // MARK: Access now

    func access() throws -> [BenchRow] {
        let (bench, events) = try plan.filledLedger(steps: 10, about: plan.events)
        let raw = try RawLMDB(making: plan.fresh("raw"))
        try raw.fill(count: events.customers)
        let operations = plan.isQuick ? 2_000 : 20_000
        let runs = try plan.measured("access") { run in
            var random = SplitMix64(seed: UInt64(run))
            let asked = (0..<operations).map { _ in
                Int.random(in: 0..<events.customers, using: &random)
            }
            let customers = asked.map { BenchStory(customer: $0).id }
            func isAllowed(_ customer: String) throws -> Bool {
                try bench.ledger.can(
                    customer,
                    BenchCatalog.feature,
                    environment: .production,
                    at: BenchStory.everybodySubscribes
                )
            }
            // The first question about a customer is a fold; a server that runs has been asked.
            for customer in customers { _ = try isAllowed(customer) }
            var ours = Samples()
            for customer in customers {
                let start = Stopwatch.now()
                let isAllowed = try isAllowed(customer)
                ours.add(Double(Stopwatch.now() - start))
                precondition(isAllowed, "every customer subscribes at that time")
            }
            return Run(ours, try raw.lookUpTimes(asked), over: 1)
        }
        try bench.discard()
        try raw.discard()
        return rows("access", "ns", runs)
    }

    // MARK: State at random points

    /// State at random (T, R) of customers with so many events each.
    func state(steps: Int) throws -> [BenchRow] {
        let (bench, events) = try plan.filledLedger(
            steps: steps,
            about: min(plan.events, 100_000)
        )
        let raw = try RawLMDB(making: plan.fresh("raw"))
        try raw.fill(count: events.customers)
        let size = try bench.ledger.size()
        let operations = plan.isQuick ? 1_000 : 5_000
        // T within the subscriptions; R anywhere.
        let span = Int64(steps) * 20 * Instant.millisecondsPerDay
        let name = "state-\(steps)"
        let runs = try plan.measured(name) { run in
            var random = SplitMix64(seed: UInt64(run))
            var ours = Samples()
            var asked: [Int] = []
            for _ in 0..<operations {
                let customer = Int.random(in: 0..<events.customers, using: &random)
                let at = BenchStory.start.advanced(
                    byMilliseconds: Int64.random(in: 0..<span, using: &random)
                )
                let known = UInt64.random(in: 0...size, using: &random)
                let id = BenchStory(customer: customer).id
                asked.append(customer)
                let start = Stopwatch.now()
                _ = try bench.ledger.timeline(of: id, environment: .production, size: known)
                    .state(at: at)
                ours.add(Double(Stopwatch.now() - start))
            }
            return Run(ours, try raw.lookUpTimes(asked), over: 1000)
        }
        try bench.discard()
        try raw.discard()
        return rows(name, "µs", runs)
    }
}
