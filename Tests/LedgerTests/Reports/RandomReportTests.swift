import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import ModelSupport
import Testing

/// Reports on random histories, counted again from the events.
struct `Reports say what an obvious recount says` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["ENTITLE_REPORT_HISTORIES"].flatMap(UInt64.init) ?? 24
    private static let firstSeed =
        environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    /// Each so many histories one is long, so that links, refunds and reversals meet.
    private static let longInterval: UInt64 = 4

    /// One question, and the prefix that it means.
    fileprivate struct Play {
        var seed: UInt64
        var log: [RecordedEvent]
        var environment: StoreEnvironment
        var at: Instant
        var range: Interval

        func question(_ kind: ReportKind) -> ReportQuestion {
            var question = ReportQuestion(
                kind,
                environment: environment,
                point: BitemporalPoint(at: at, knownAt: .sequence(UInt64(log.count)))
            )
            question.range = range
            return question
        }
    }

    private static func plays(
        _ body: (Ledger, Play) throws -> Void
    ) async throws {
        for offset in 0..<count {
            let seed = firstSeed &+ offset
            var random = SplitMix64(seed: seed)
            let size = offset % longInterval == 0 ? 60 : 0
            let history = RandomHistory(seed: seed, minimumSize: size)
            let log = history.reportable
            let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
            try await ScratchLedger.with(clock: clock) { scratch in
                try record(log, in: scratch, &random)
                for question in history.questions.prefix(3) {
                    let size = random.chance(60) ? log.count : min(question.prefix, log.count)
                    let times = log.map(\.time).sorted()
                    var range = Interval(start: Instant(milliseconds: .min), end: nil)
                    if random.chance(40), let first = times.first {
                        range.start = random.pick([first, random.pick(times)])
                        range.end = random.chance(50) ? random.pick(times) : nil
                    }
                    let latest = times.last ?? question.at
                    let play = Play(
                        seed: seed,
                        log: Array(log.prefix(size)),
                        environment: question.environment,
                        at: random.chance(60) ? latest : question.at,
                        range: range
                    )
                    try body(scratch.ledger, play)
                }
            }
        }
    }

    /// In batches, between which roll-ups are made, moved along, or lost.
    private static func record(
        _ log: [RecordedEvent],
        in scratch: ScratchLedger,
        _ random: inout SplitMix64
    ) throws {
        var next = 0
        while next < log.count {
            let batch = log[next..<min(log.count, next + Int.random(in: 1...20, using: &random))]
            _ = try scratch.ledger.appender.record(
                batch.map { Submission(event: $0.event) },
                recordedAt: batch.map(\.recordedAt)
            )
            next = batch.endIndex
            if random.chance(50) {
                for environment in StoreEnvironment.allCases {
                    try scratch.ledger.reports.rollUp(environment)
                }
            }
            if random.chance(3) { try scratch.reopen() }
            if random.chance(2) { try scratch.reopenWithoutViews() }
        }
    }

    // row 10.2; P1, P6, P7, P13; law 4: from the roll-up as from the log.
    @Test func `of money, three ways`() async throws {
        var (lines, refunds, booked) = (0, 0, 0)
        try await Self.plays { ledger, play in
            let question = play.question(.revenue)
            let report = try ledger.reports.revenueFromLog(question)
            let slow = SlowRevenue(
                log: play.log,
                environment: play.environment,
                at: play.at,
                range: play.range
            ).figures
            #expect(report.figures == slow, "ENTITLE_SEED=\(play.seed), \(play.log.count) events")
            #expect(
                try ledger.reports.revenue(question).months == report.months,
                "ENTITLE_SEED=\(play.seed), rolled up"
            )
            lines += slow.count
            refunds += slow.values.count { $0["refunded"] != nil }
            booked += slow.values.count { $0["booked refunded"] != nil }
        }
        #expect(lines > 30 && refunds > 0 && booked > 0, "there was something to count")
    }

    // Model, "Questions"; C2, K7, P9
    @Test func `of customers`() async throws {
        var customers = 0
        try await Self.plays { ledger, play in
            let report = try ledger.reports.customers(play.question(.customers))
            let slow = play.counts.customers
            #expect(report.figures == slow, "ENTITLE_SEED=\(play.seed), \(play.log.count) events")
            customers += slow.values.reduce(0, +)
        }
        #expect(customers > Int(Self.count))
    }

    // rows 10.1, 10.3, 10.5, B7; K8
    @Test func `of flows, stages, errors and experiments`() async throws {
        var (flows, exposures) = (0, 0)
        try await Self.plays { ledger, play in
            let what: Comment = "ENTITLE_SEED=\(play.seed), \(play.log.count) events"
            let counts = play.counts
            let funnel = try ledger.reports.funnel(play.question(.funnel))
            #expect(funnel.figures == counts.funnel, what)
            let stages = try ledger.reports.stageTimes(play.question(.stages))
            #expect(stages.figures == counts.stages, what)
            let errors = try ledger.reports.errors(play.question(.errors))
            #expect(errors.errors.figures == counts.errors, what)
            let experiments = try ledger.reports.experiments(play.question(.experiments))
            #expect(experiments.figures == counts.experiments, what)
            flows += counts.funnel.values.reduce(0, +)
            exposures += counts.experiments.filter { $0.key.hasSuffix(" exposures") }.count
        }
        #expect(flows > Int(Self.count) && exposures > 0)
    }
}

extension `Reports say what an obvious recount says`.Play {
    fileprivate var counts: SlowCounts {
        SlowCounts(log: log, environment: environment, at: at, range: range)
    }
}

extension RevenueReport {
    fileprivate var figures: SlowRevenue.Figures {
        var figures: SlowRevenue.Figures = [:]
        for (key, line) in months {
            let name = "\(key.day.month) \(key.store) \(key.productID) \(key.currencyCode ?? "-")"
            let all = [
                "purchases": line.taken.count, "units": Int(line.taken.units),
                "gross": Int(line.taken.micros), "unpriced": line.unpriced,
                "refunds of purchases": line.refundedOfPurchases.count,
                "refunded of purchases": Int(line.refundedOfPurchases.micros),
                "refunds": line.refunded.count, "refunded": Int(line.refunded.micros),
                "reversals": line.reversed.count, "reversed": Int(line.reversed.micros),
                "booked purchases": line.bookedTaken.count,
                "booked units": Int(line.bookedTaken.units),
                "booked gross": Int(line.bookedTaken.micros),
                "booked refunds": line.bookedRefunded.count,
                "booked refunded": Int(line.bookedRefunded.micros),
            ].filter { $0.value != 0 }
            if !all.isEmpty { figures[name] = all }
        }
        return figures
    }
}

extension CustomerReport {
    fileprivate var figures: [String: Int] {
        var figures: [String: Int] = [:]
        for (tier, count) in tiers { figures["tier " + tier.text] = count }
        for (status, owned) in statuses {
            figures["purchases " + status.rawValue] = owned.purchases
            figures["customers " + status.rawValue] = owned.customers
        }
        return figures
    }
}

extension FunnelReport {
    fileprivate var figures: [String: Int] {
        var figures: [String: Int] = [:]
        for (key, line) in lines {
            let name = "\(key.productID ?? "-") \(key.platform ?? "-")"
            figures[name] = line.flows
            for (kind, count) in line.ends { figures["\(name) \(kind.name)"] = count }
            let open = line.flows - line.ends.values.reduce(0, +)
            if open > 0 { figures[name + " open"] = open }
        }
        return figures
    }
}

extension StageReport {
    fileprivate var figures: [String: [Int64]] {
        stages.reduce(into: [:]) { figures, stage in
            figures[stage.key.text] = stage.value.sorted { $0.key < $1.key }
                .flatMap { Array(repeating: $0.key, count: $0.value) }
        }
    }
}

extension [ErrorReport.Key: ErrorReport.Counts] {
    fileprivate var figures: [String: Int] {
        var figures: [String: Int] = [:]
        for (key, counts) in self where counts.inRange > 0 {
            figures["\(key.origin.rawValue) \(key.code)"] = counts.inRange
        }
        return figures
    }
}

extension ExperimentReport {
    fileprivate var figures: [String: Int] {
        var figures: [String: Int] = [:]
        for (key, counts) in variants {
            let name = "\(key.experiment) \(key.variant ?? "-") \(key.isAssigned)"
            let all = [
                "exposures": counts.exposures, "conversions": counts.conversions,
                "mismatches": counts.mismatches,
            ]
            for (what, count) in all where count > 0 { figures["\(name) \(what)"] = count }
        }
        return figures
    }
}
