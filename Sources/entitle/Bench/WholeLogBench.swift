import EntitlementLedger
import Entitlements
import EventLog
import Foundation

/// What reads the whole log: views, fold and audit; and how much room it takes.
struct WholeLogBench {
    let plan: BenchPlan
    let topics: Set<BenchTopic>

    func rows() throws -> [BenchRow] {
        let (bench, events) = try plan.filledLedger(steps: 10, about: plan.events)
        var rows: [BenchRow] = []
        if topics.contains(.rebuild) {
            rows.append(try rebuild(bench))
            rows += try fold(bench, events)
        }
        if topics.contains(.audit) { rows.append(try audit(bench)) }
        if topics.contains(.space) { rows += try space(bench) }
        try bench.discard()
        return rows
    }

    /// Seconds of one pass over the log that reads every header.
    private func headerScan(_ bench: BenchLedger) throws -> Double {
        var sum: UInt64 = 0
        let seconds = try Stopwatch.seconds {
            try bench.scan { _, record in
                let header = try RecordHeader(reading: record)
                sum &+= header.stream &+ header.signal.low &+ UInt64(header.kind)
            }
        }
        precondition(sum != 0, "the log holds records")
        return seconds
    }

    private func rebuild(_ bench: BenchLedger) throws -> BenchRow {
        let count = Double(try bench.ledger.size())
        let runs = try plan.measured("rebuild") { _ in
            let ours = try Stopwatch.seconds { _ = try bench.ledger.rebuild() }
            return BenchRun(value: count / ours, reference: count / (try headerScan(bench)))
        }
        return BenchRow(
            "rebuild",
            unit: "events/s",
            against: "one scan of the bundles that reads headers",
            runs
        )
    }

    /// Every customer's timeline, on all cores.
    private func fold(_ bench: BenchLedger, _ events: BenchEvents) throws -> [BenchRow] {
        let size = try bench.ledger.size()
        let raw = try RawLMDB(making: plan.fresh("raw"))
        try raw.fill(count: events.customers)
        let customers = Array(0..<events.customers)
        let runs = try plan.measured("fold") { _ in
            let ours = try Stopwatch.seconds {
                let owners = try bench.ledger.foldCustomers(
                    upTo: size,
                    environment: .production,
                    into: 0
                ) { $0 += $1.purchases.count }
                precondition(owners.reduce(0, +) == customers.count, "each has bought once")
            }
            let scan = try headerScan(bench)
            let gets = try Stopwatch.seconds { _ = try raw.lookUpTimes(customers) }
            return (
                events: BenchRun(value: Double(size) / ours, reference: Double(size) / scan),
                customers: BenchRun(
                    value: Double(customers.count) / ours,
                    reference: Double(customers.count) / gets
                )
            )
        }
        try raw.discard()
        return [
            BenchRow(
                "fold",
                unit: "events/s",
                against: "one scan of the bundles that reads headers",
                runs.map(\.events)
            ),
            BenchRow(
                "fold-customers",
                unit: "customers/s",
                against: "one mdb_get for each customer",
                runs.map(\.customers)
            ),
        ]
    }

    private func audit(_ bench: BenchLedger) throws -> BenchRow {
        let count = Double(try bench.ledger.size())
        let runs = try plan.measured("audit") { _ in
            let ours = try Stopwatch.seconds {
                guard try bench.ledger.audit().isOK else {
                    throw CommandFailure(.integrity, "damaged", "the audit found a fault")
                }
            }
            var last: EventLog.Digest?
            let theirs = try Stopwatch.seconds {
                try bench.scan { last = TreeHash.leaf($1) }
            }
            precondition(last != nil, "the log holds records")
            return BenchRun(value: count / ours, reference: count / theirs)
        }
        return BenchRow(
            "audit",
            unit: "events/s",
            against: "SHA-256 of the same records, one core",
            runs
        )
    }

    /// Bytes of all files, and of each part, over the bytes of the records.
    private func space(_ bench: BenchLedger) throws -> [BenchRow] {
        // Rebuilt, so that the figure does not hang on the generation that was followed.
        _ = try bench.ledger.rebuild()
        var records = 0
        try bench.scan { records += $1.count }
        return try [("", ""), ("-log", "/log"), ("-vault", "/vault"), ("-views", "/views")].map {
            suffix,
            part in
            let run = BenchRun(
                value: Double(try Self.bytes(below: bench.path + part)),
                reference: Double(records)
            )
            return BenchRow(
                "space" + suffix,
                unit: "bytes",
                against: "bytes of the records",
                [run]
            )
        }
    }

    /// Bytes of the files below a directory, locks apart.
    private static func bytes(below directory: String) throws -> Int {
        var bytes = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory)
        where !name.hasSuffix("lock.mdb") {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: directory + "/" + name
            )
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            bytes += (attributes[.size] as? NSNumber)?.intValue ?? 0
        }
        return bytes
    }
}
