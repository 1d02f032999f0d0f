import Encodings
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import ModelSupport
import PostingIndex
import Stores
import Testing

@testable import EntitlementLedger

/// Reports from their roll-ups, held against the log on random histories (law 4, P13).
struct `Reports from roll-ups say what the log says` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count =
        environment["ENTITLE_ROLLUP_HISTORIES"].flatMap(UInt64.init) ?? 24
    private static let firstSeed =
        environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    /// Later than all histories.
    private static let now = Instant(milliseconds: 1_893_456_000_000)

    // rows 10.1 to 10.5, K7, P9, C1, C2, P13, C6
    @Test func `byte for byte, whatever was recorded meanwhile`() async throws {
        var tallies: [RollUp.Kind: Int] = [:]
        for offset in 0..<Self.count {
            let seed = Self.firstSeed &+ offset
            var random = SplitMix64(seed: seed)
            let log = RandomHistory(seed: seed, minimumSize: offset % 3 == 0 ? 60 : 12).reportable
            let clock = TestClock(Self.now)
            try await ScratchLedger.with(clock: clock) { scratch in
                let known = log.count * 2 / 3
                var next = 0
                while next < log.count {
                    let batch = log[next..<min(log.count, next + 1 + Int(random.next() % 12))]
                    let isLate = next >= known
                    _ = try scratch.ledger.appender.record(
                        batch.map { Submission(event: $0.event) },
                        recordedAt: isLate ? nil : batch.map(\.recordedAt)
                    )
                    next = batch.endIndex
                    if random.chance(40) {
                        let environment = random.pick(StoreEnvironment.allCases)
                        try scratch.ledger.reports.rollUp(environment)
                    }
                    if isLate, random.chance(15) { try Self.erase(scratch, "r\(next)", &random) }
                    if random.chance(5) { try scratch.reopen() }
                    if random.chance(2) { try scratch.reopenWithoutViews() }
                    clock.now = clock.now.advanced(byMilliseconds: 90_000_000)
                    guard random.chance(30) || next == log.count else { continue }
                    let points = Self.points(log, scratch, &random)
                    try Self.compare(scratch.ledger.reports, points, seed, &tallies)
                }
                #expect(try scratch.ledger.auditor.audit().faults.isEmpty, "ENTITLE_SEED=\(seed)")
            }
        }
        for kind in RollUp.Kind.allCases {
            #expect(tallies[kind, default: 0] > Self.count, "\(kind) was rolled up")
        }
    }

    private static func erase(
        _ scratch: ScratchLedger,
        _ id: String,
        _ random: inout SplitMix64
    ) throws {
        _ = try scratch.ledger.eraser.erase(
            [random.pick(["ann", "bob", "cy", "dee"])],
            Request(id: id, source: "support", environment: .production),
            reading: StoredEvidenceNames()
        )
    }

    /// Now, and the starts of days about which something was told.
    private static func points(
        _ log: [RecordedEvent],
        _ scratch: ScratchLedger,
        _ random: inout SplitMix64
    ) -> [Instant] {
        let day = Instant.millisecondsPerDay
        let starts = Set(log.map { $0.event.time.milliseconds / day })
        let days = (starts.map { $0 + Int64(random.next() % 3) } + [0, 30_000]).map {
            Instant(milliseconds: $0 * day)
        }
        return Array(days.shuffled(using: &random).prefix(6)) + [scratch.clock.now]
    }

    private static func compare(
        _ reports: Reports,
        _ points: [Instant],
        _ seed: UInt64,
        _ tallies: inout [RollUp.Kind: Int]
    ) throws {
        let size = try reports.questions.size()
        for point in points {
            for environment in [StoreEnvironment.production, .sandbox] {
                for kind in ReportKind.allCases where kind != .experiments {
                    var question = ReportQuestion(
                        kind,
                        environment: environment,
                        point: BitemporalPoint(at: point, knownAt: .everything)
                    )
                    for range in ranges(point, kind) {
                        question.range = range
                        let report = try reports.report(question)
                        let what: Comment = "ENTITLE_SEED=\(seed), \(kind) at \(point), \(size)"
                        let log = try Self.fromLog(reports, question, report)
                        #expect(report.jsonText.bytes == log.jsonText.bytes, what)
                        let rollUp = try reports.rollUp(
                            kind.rolledUp,
                            question,
                            size: size,
                            telling: [point]
                        )
                        #expect(rollUp != nil, what)
                        tallies[kind.rolledUp, default: 0] += 1
                    }
                }
            }
        }
    }

    /// All times, and some whole days.
    private static func ranges(_ point: Instant, _ kind: ReportKind) -> [Interval] {
        let always = Interval(start: Instant(milliseconds: .min), end: nil)
        guard kind != .customers else { return [always] }
        let day = Instant.millisecondsPerDay
        let start = point.milliseconds / day * day
        return [
            always,
            Interval(
                start: Instant(milliseconds: start - 4 * day),
                end: Instant(milliseconds: start - day)
            ),
        ]
    }

    /// The same report without a roll-up.
    fileprivate static func fromLog(
        _ reports: Reports,
        _ question: ReportQuestion,
        _ report: Report
    ) throws -> Report {
        switch report {
        case .customers(let answer):
            .customers(
                CustomersAnswer(answer.question, try reports.customersFromLog(question))
            )
        case .revenue(let answer):
            .revenue(RowsAnswer(answer.question, try reports.revenueFromLog(question).rows))
        case .refunds(let answer):
            .refunds(
                RowsAnswer(answer.question, try reports.revenueFromLog(question).refundRows)
            )
        case .funnel(let answer):
            .funnel(RowsAnswer(answer.question, try reports.funnelFromLog(question).rows))
        case .stages(let answer):
            .stages(
                AlertRowsAnswer(
                    answer.question,
                    try reports.stageTimesFromLog(question).rows(question.thresholds)
                )
            )
        case .errors(let answer):
            .errors(
                AlertRowsAnswer(
                    answer.question,
                    try reports.errorsFromLog(question).rows(question.rule)
                )
            )
        case .experiments: report
        }
    }

    // law 4: a count that is wrong is found, and only in its report.
    @Test func `and the audit finds a count that is wrong`() async throws {
        try await ScratchLedger.with { scratch in
            let lines =
                Sample.ownedPurchase("u", "app_store/1")
                + [
                    Sample.line(
                        "flow",
                        "flow.failed",
                        "customer/u",
                        data: #"{"flowId":"f","stages":{"store":12}}"#,
                        time: Sample.day(2)
                    )
                ]
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            let reports = scratch.ledger.reports
            try reports.rollUp(.production)
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty, "control")
            for kind in RollUp.Kind.allCases {
                let sound = try #require(reports.rollUps.current(kind, .production))
                var wrong = sound
                let step = try #require(sound.table.steps.first)
                wrong.table.add(
                    1,
                    to: sound.table.cells[Int(step.cell)],
                    from: step.from,
                    day: CalendarDay(number: Int64(step.day))
                )
                wrong.table.settle()
                reports.rollUps.keep(wrong, kind, .production, isWritten: false)
                let found = try scratch.ledger.auditor.audit().faults.map(\.detail)
                #expect(
                    found == ["the \(kind.rawValue) kept for production is not what the log gives"]
                )
                reports.rollUps.keep(sound, kind, .production, isWritten: false)
            }
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty, "control")
        }
    }

    // law 4: a file that is not what was written, or summed by other rules, is as good as none.
    @Test func `and a file that is cut short or of other rules is made anew`() async throws {
        try await ScratchLedger.with { scratch in
            let lines = Sample.ownedPurchase("u", "app_store/1")
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            try scratch.ledger.reports.rollUp(.production)
            let seal = ViewSeal(
                ledgerID: scratch.ledger.identity.id,
                secret: try #require(scratch.ledger.questions.vault.viewSecret)
            )
            for kind in RollUp.Kind.allCases {
                let path = scratch.viewsPath + "/\(kind.rawValue)-production"
                let whole = Array(try Data(contentsOf: URL(filePath: path)))
                func read(_ bytes: [UInt8]) throws -> RollUp {
                    try RollUpFile.rollUp(bytes.span, kind, environment: .production, seal).0
                }
                #expect(try read(whole).size == scratch.ledger.questions.size(), "control")
                #expect(throws: DecodingFault.self) { try read(Array(whole.dropLast())) }
                var content = Array(
                    whole.prefix(try seal.contentCount(of: whole.span, kind.rawValue))
                )
                #expect(try read(seal.sealed(content, kind.rawValue)).size > 0, "control")
                // The rules stand behind the four bytes of the version.
                content[4] ^= 1
                let other = seal.sealed(content, kind.rawValue)
                #expect(throws: DecodingFault.self) { try read(other) }
                try scratch.close()
                try Data(other).write(to: URL(filePath: path))
                try scratch.reopen()
                #expect(scratch.ledger.reports.rollUps.current(kind, .production) == nil)
                try scratch.ledger.reports.rollUp(.production)
                #expect(scratch.ledger.reports.rollUps.current(kind, .production) != nil)
            }
        }
    }
}

extension ReportKind {
    /// The roll-up that it is made from.
    fileprivate var rolledUp: RollUp.Kind {
        switch self {
        case .revenue, .refunds, .experiments: .revenue
        case .customers: .customers
        case .funnel: .funnel
        case .stages: .stages
        case .errors: .errors
        }
    }
}
