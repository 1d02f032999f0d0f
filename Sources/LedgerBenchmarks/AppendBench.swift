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
        ] + ConcurrentAppendBench(plan: plan).rows() + groups()
    }

    // MARK: One by one

    /// Latency of one event a commit, each beside a raw commit of the same record.
    private func single(_ name: String, isNewStream: Bool) throws -> BenchRow {
        let heading = BenchHeading(
            name,
            unit: "µs p50",
            against: "raw LMDB, one put and commit of the record"
        )
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        var raw = try RawLMDB(making: plan.fresh("raw"))
        let operations = plan.isQuick ? 200 : 400
        if !isNewStream {
            try bench.record((0..<operations).map { submission(customer: $0, step: 0) })
        }
        let row = try plan.row(heading) { run in
            var ours = Samples()
            var theirs = Samples()
            let first = try bench.ledger.questions.size()
            for operation in 0..<operations {
                let next =
                    isNewStream
                    ? submission(customer: run * operations + operation, step: 0)
                    : submission(customer: operation, step: run + 1, alwaysRenewing: true)
                let size = try bench.ledger.questions.size()
                ours.add(try Stopwatch.nanoseconds { try bench.record([next]) } / 1000)
                try plan.reference {
                    let record = try bench.records(from: size)
                    theirs.add(try Stopwatch.nanoseconds { try raw.append(record) } / 1000)
                }
            }
            try plan.partner?.hand(over: bench, from: first)
            return BenchRun(value: ours.median, reference: plan.reference { theirs.median })
        }
        try bench.discard()
        try raw.discard()
        return row
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

    /// Groups of 1 000, the views caught up at the end; and whether it slows down as it grows.
    private func groups() throws -> [BenchRow] {
        let events = BenchEvents(about: plan.events, steps: 10)
        let headings =
            BenchHeading.events(
                "append-1000",
                against: "raw LMDB log with two B-tree indexes, the same groups"
            ) + [
                BenchHeading(
                    "append-1000-growth",
                    unit: "events/s, last tenth",
                    against: "the first tenth of the same run"
                ),
                BenchHeading(
                    "append-1000-written",
                    unit: "bytes written each",
                    against: "the bytes of its record"
                ),
            ]
        return try plan.rows(headings) { _ in
            let bench = try BenchLedger(making: plan.fresh("ledger"))
            let groups = try bench.record(all: events, groupsOf: Self.groupSize)
            // At once: what the views have still to write is theirs, too.
            var total = try Stopwatch.cost { try bench.close() }
            for group in groups { total += group }
            let closed = try BenchLedger(opening: bench.path)
            let reference = try plan.reference { try indexedSeconds(closed) }
            var recordBytes = 0
            try closed.scan(from: 1) { recordBytes += $1.count }
            try plan.partner?.hand(over: closed, from: 1)
            try closed.discard()
            let tenth = max(1, groups.count / 10)
            let growth = BenchRun(
                value: rate(groups.suffix(tenth)),
                reference: rate(groups.prefix(tenth))
            )
            let count = Double(events.count)
            let written = BenchRun(
                value: total.writtenBytes / count,
                reference: Double(recordBytes) / count
            )
            return total.runs(of: count, reference: reference) + [growth, written]
        }
    }

    private func rate(_ groups: ArraySlice<Cost>) -> Double {
        Double(groups.count * Self.groupSize) / groups.map(\.seconds).reduce(0, +)
    }

    /// Seconds of raw LMDB with two indexes for the same records in the same groups.
    private func indexedSeconds(_ bench: BenchLedger) throws -> Double {
        var raw = try RawLMDB(making: plan.fresh("raw"))
        var seconds = 0.0
        var group: [[UInt8]] = []
        func flush() throws {
            seconds += try Stopwatch.seconds { try raw.appendIndexed(group) }
            group.removeAll(keepingCapacity: true)
        }
        try bench.scan(from: 1) { _, record in
            group.append(record.copy())
            if group.count == Self.groupSize { try flush() }
        }
        try flush()
        try raw.discard()
        return seconds
    }
}
