import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI

/// What reads the whole log: fold, views and audit; and how much room it takes.
struct WholeLogBench {
    let plan: BenchPlan
    let topics: Set<BenchTopic>

    static let topics: Set<BenchTopic> = [.fold, .whatif, .rebuild, .report, .audit, .space]

    func rows() throws -> [BenchRow] {
        let (bench, events) = try plan.filledLedger(steps: 10, about: plan.events)
        var rows: [BenchRow] = []
        if topics.contains(.fold) { rows += try fold(bench, events) }
        if topics.contains(.whatif) { rows += try whatIf(bench, events) }
        if topics.contains(.rebuild) { rows += try rebuild(bench) }
        if topics.contains(.report) { rows += try report(bench, events) }
        if topics.contains(.audit) { rows += try audit(bench) }
        if topics.contains(.space) { rows += try space(bench) }
        try bench.discard()
        return rows
    }

    private static let scanName = "one scan of the bundles that reads headers, one core"

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

    /// Every customer's timeline, on all cores.
    private func fold(_ bench: BenchLedger, _ events: BenchEvents) throws -> [BenchRow] {
        let size = try bench.ledger.questions.size()
        return try plan.rows(BenchHeading.events("fold", against: Self.scanName)) { _ in
            let ours = try Stopwatch.cost {
                let owners = try bench.ledger.questions.foldCustomers(
                    upTo: size,
                    environment: .production,
                    into: 0
                ) { $0 += $1.purchases.count }
                try requireRight(
                    owners.reduce(0, +) == events.customers,
                    "each has bought once"
                )
            }
            let scan = try plan.reference { try headerScan(bench) }
            return ours.runs(of: Double(size), reference: scan)
        }
    }

    /// Every customer under another catalog, in which each loses the paid features; beside the fold
    /// that it is made of.
    private func whatIf(_ bench: BenchLedger, _ events: BenchEvents) throws -> [BenchRow] {
        let question = WhatIfQuestion(
            catalog: try Catalog(document: BenchCatalog.document(isSelling: false)),
            point: BitemporalPoint(at: BenchStory.everybodySubscribes, knownAt: .everything),
            environment: .production
        )
        let heading = BenchHeading(
            "whatif",
            unit: "customers/s",
            against: "the fold of every customer"
        )
        let size = try bench.ledger.questions.size()
        let customers = UInt64(events.customers)
        return [
            try plan.row(heading) { _ in
                let ours = try Stopwatch.seconds {
                    let report = try bench.ledger.questions.whatIf(question)
                    try requireRight(
                        report.customers == customers && report.losing > 0,
                        "everybody is asked about, and who subscribes loses"
                    )
                }
                let fold = try Stopwatch.seconds {
                    let counts = try bench.ledger.questions.foldCustomers(
                        upTo: size,
                        environment: .production,
                        into: UInt64(0)
                    ) { count, _ in count += 1 }
                    try requireRight(counts.reduce(0, +) == customers, "everybody is folded")
                }
                return BenchRun(
                    value: Double(customers) / ours,
                    reference: Double(customers) / fold
                )
            }
        ]
    }

    private func rebuild(_ bench: BenchLedger) throws -> [BenchRow] {
        let size = try bench.ledger.questions.size()
        return try plan.rows(BenchHeading.events("rebuild", against: Self.scanName)) { _ in
            var rebuilt: UInt64 = 0
            let ours = try Stopwatch.cost { rebuilt = try bench.ledger.auditor.rebuild() }
            try requireRight(rebuilt == size, "the views hold every event")
            return ours.runs(of: Double(size), reference: try headerScan(bench))
        }
    }

    /// Revenue with refunds three ways, and customers, each from the log on all cores.
    private func report(_ bench: BenchLedger, _ events: BenchEvents) throws -> [BenchRow] {
        let size = try bench.ledger.questions.size()
        func question(_ kind: ReportKind) -> ReportQuestion {
            ReportQuestion(
                kind,
                environment: .production,
                point: BitemporalPoint(at: Instant.latest, knownAt: .sequence(size))
            )
        }
        let revenue = try plan.rows(BenchHeading.events("report-revenue", against: Self.scanName)) {
            _ in
            let ours = try Stopwatch.cost {
                let report = try bench.ledger.reports.revenueFromLog(question(.revenue))
                let sold = report.lines.values.reduce(0) { $0 + $1.taken.count }
                try requireRight(sold >= events.customers, "each has bought once")
            }
            return ours.runs(of: Double(size), reference: try headerScan(bench))
        }
        let customers = try plan.rows(
            BenchHeading.events("report-customers", against: Self.scanName)
        ) { _ in
            let ours = try Stopwatch.cost {
                let report = try bench.ledger.reports.customersFromLog(question(.customers))
                let met = report.tiers.values.reduce(0, +)
                try requireRight(met == events.customers, "each counts once")
            }
            return ours.runs(of: Double(size), reference: try headerScan(bench))
        }
        return try revenue + customers + rolledUp(bench, question)
    }

    /// Reports from the roll-ups, which are made before; beside the same from the log.
    private func rolledUp(
        _ bench: BenchLedger,
        _ question: (ReportKind) -> ReportQuestion
    ) throws -> [BenchRow] {
        let reports = bench.ledger.reports
        try reports.rollUp(.production)
        func row<Report: Equatable>(
            _ kind: ReportKind,
            _ isEmpty: KeyPath<Report, Bool>,
            _ rolledUp: (ReportQuestion) throws -> Report,
            _ fromLog: (ReportQuestion) throws -> Report
        ) throws -> BenchRow {
            let heading = BenchHeading(
                "report-\(kind.rawValue)-views",
                unit: "ms",
                against: "the same from the log, all cores"
            )
            return try plan.row(heading) { _ in
                var (ours, theirs) = (Report?.none, Report?.none)
                let seconds = try Stopwatch.seconds { ours = try rolledUp(question(kind)) }
                let reference = try Stopwatch.seconds { theirs = try fromLog(question(kind)) }
                try requireRight(ours == theirs, "both say the same")
                try requireRight(ours?[keyPath: isEmpty] == false, "there is something to say")
                return BenchRun(value: 1000 * seconds, reference: 1000 * reference)
            }
        }
        return [
            try row(.revenue, \.isEmpty, { try reports.revenue($0).months }) {
                try reports.revenueFromLog($0).months
            },
            try row(.customers, \.tiers.isEmpty, reports.customers, reports.customersFromLog),
            try row(.funnel, \.lines.isEmpty, reports.funnel, reports.funnelFromLog),
            try row(.stages, \.stages.isEmpty, reports.stageTimes, reports.stageTimesFromLog),
            try row(.errors, \.errors.isEmpty, reports.errors, reports.errorsFromLog),
        ]
    }

    /// `audit` checks every hash; `audit-everything` opens each sealed part and compares the views
    /// as well.
    private func audit(_ bench: BenchLedger) throws -> [BenchRow] {
        try audit(bench, "audit", .hashes) + audit(bench, "audit-everything", .everything)
    }

    private func audit(
        _ bench: BenchLedger,
        _ name: String,
        _ scope: AuditScope
    ) throws -> [BenchRow] {
        let size = try bench.ledger.questions.size()
        let headings = BenchHeading.events(
            name,
            against: "SHA-256 of the same records, one core"
        )
        return try plan.rows(headings) { _ in
            let ours = try Stopwatch.cost {
                let report = try bench.ledger.auditor.audit(scope)
                try requireRight(report.isOK, "the audit finds no fault")
            }
            let theirs = try plan.reference {
                var last: EventLog.Digest?
                let seconds = try Stopwatch.seconds {
                    try bench.scan { last = TreeHash.leaf($1) }
                }
                precondition(last != nil, "the log holds records")
                return seconds
            }
            return ours.runs(of: Double(size), reference: theirs)
        }
    }

    /// Bytes of all files, and of each part, over the bytes of the records; of the vault's, those of the ids
    /// of transactions.
    private func space(_ bench: BenchLedger) throws -> [BenchRow] {
        // Rebuilt, so that the figure does not hang on the generation that was followed.
        _ = try bench.ledger.auditor.rebuild()
        // A server reads them behind whoever appends; here nobody did.
        try bench.ledger.identifiers.readAnew()
        var records = 0
        try bench.scan { records += $1.count }
        var parts = try [
            ("", ""), ("-log", "/log"), ("-vault", "/vault"), ("-views", "/views"),
        ].map { suffix, part in (suffix, try Self.bytes(below: bench.path + part)) }
        parts.append(
            ("-identifiers", Int(try bench.ledger.auditor.identifiersByteCount() ?? 0))
        )
        return parts.map { suffix, bytes in
            BenchRow(
                BenchHeading("space" + suffix, unit: "bytes", against: "bytes of the records"),
                [BenchRun(value: Double(bytes), reference: Double(records))]
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
