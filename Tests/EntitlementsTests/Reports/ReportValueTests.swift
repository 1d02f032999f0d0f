import Encodings
import ModelSupport
import Testing

@testable import Entitlements
@testable import LedgerAPI

/// The numbers behind the reports.
struct `Reports reckon` {
    // row 10.3: nearest rank, exact.
    @Test(arguments: [
        ([Int64](1...100), [50, 95, 99]), ([Int64](1...10), [5, 10, 10]), ([7], [7, 7, 7]),
        ([1, 2], [1, 2, 2]), ([5, 5, 5, 9], [5, 9, 9]), ([Int64](1...200), [100, 190, 198]),
    ])
    func `percentiles by the nearest rank`(_ times: [Int64], _ expected: [Int64]) {
        let counts = Dictionary(grouping: times) { $0 }.mapValues(\.count)
        let percentiles = StageReport.Percentiles(counts)
        #expect([50, 95, 99].map { percentiles[$0] } == expected)
        // By the definition: the smallest time that so many percent are not above.
        for percent in 1...100 {
            let sorted = times.sorted()
            let rank = sorted.first { time in
                times.count { $0 <= time } * 100 >= percent * times.count
            }
            #expect(percentiles[percent] == rank)
        }
    }

    // row B7: ids of catalogs may have slashes, as what apps state has.
    @Test(
        arguments: [
            ("paywall", "paywall", nil), ("paywall/b", "paywall", "b"),
            ("paywall/2026", "paywall/2026", nil), ("paywall/2026/b", "paywall/2026", "b"),
            ("paywall/2026/b/c", "paywall/2026", "b/c"), ("paywall/2025/b", "paywall", "2025/b"),
            ("unknown/b/c", "unknown", "b/c"), ("/", "", ""),
        ] as [(String, String, String?)]
    )
    func `the experiment that a catalog knows`(
        _ stated: String,
        _ experiment: String,
        _ variant: String?
    ) {
        let parts = ExperimentReport.parts(stated, among: ["paywall", "paywall/2026"])
        #expect(parts.experiment == experiment && parts.variant == variant)
    }

    private static func stages(_ times: [(String, [Int64])]) -> StageReport {
        var names = FactNameTable()
        var report = StageReport()
        for (name, times) in times {
            for time in times {
                var fact = FlowFact(
                    .flowSucceeded,
                    sequence: 0,
                    time: Instant(milliseconds: 0),
                    flow: 1
                )
                fact.stages = [FlowFact.Stage(name: names.name(name), milliseconds: time)]
                report.add(fact, names.names)
            }
        }
        return report
    }

    // row 10.4
    @Test func `a stage over its threshold`() throws {
        let times = [Int64](repeating: 100, count: 94) + [Int64](repeating: 900, count: 6)
        let report = Self.stages([("store", times), ("record", [1, 2, 3])])
        func slow(_ thresholds: String) throws -> [String] {
            let rows = report.rows(try #require(StageReport.Thresholds(thresholds)))
            let slow = rows.filter(\.isSlow).map(\.stage)
            let answer = AlertRowsAnswer(Self.question, rows)
            #expect(answer.alerts == slow.count)
            #expect(AnswerText(answer).json["alerts"]?.integer == Int64(slow.count))
            return slow
        }
        #expect(try slow("900") == [])
        #expect(try slow("899") == ["store"])
        #expect(try slow("2,store:1000") == ["record"])
        #expect(try slow("0") == ["store", "record"])
        let over = report.rows(StageReport.Thresholds(usual: 100))
        #expect(over.first?.overThreshold == 6)
    }

    @Test(arguments: [
        "", ",", "x", "-1", "1,2", "store:", ":5", "store:1,store:2", "5;6", "1e3",
        "99999999999999999999", String(repeating: "1,", count: 200) + "1",
    ])
    func `no threshold from`(_ text: String) {
        #expect(StageReport.Thresholds(text) == nil)
    }

    @Test func `thresholds whose stages have colons`() {
        let read = StageReport.Thresholds("a:b:7,9")
        #expect(read?.milliseconds(of: "a:b") == 7 && read?.milliseconds(of: "a") == 9)
    }

    // row 10.5
    @Test(
        arguments: [
            // window, baseline of 24 windows, attempts, alert
            (0, 0, nil, false), (4, 0, nil, false), (5, 0, nil, true), (5, 24, nil, false),
            (10, 240, nil, false), (22, 240, nil, false), (30, 240, nil, true),
            (100, 2400, nil, false),
            (150, 2400, nil, true), (1000, 24_000, nil, false), (0, 24_000, nil, false),
            // Twice the customers fail twice as often: no alert. The same with as many customers is one.
            (200, 2400, (2000, 24_000), false), (200, 2400, (1000, 24_000), true),
            (5, 10, (5, 1000), true), (5, 2400, (50, 24_000), false), (7, 0, (7, 0), true),
        ] as [(Int, Int, (Int, Int)?, Bool)]
    )
    func `an alert`(_ window: Int, _ baseline: Int, _ attempts: (Int, Int)?, _ isAlert: Bool) {
        let verdict = AlertRule.usual.verdict(
            window: window,
            baseline: baseline,
            attempts: attempts
        )
        #expect(verdict.isAlert == isAlert, "\(verdict)")
    }

    // row 10.5
    @Test func `few false alerts where nothing changes`() {
        var random = Words(state: 20_260_101)
        var alerts = 0
        let windows = 2000
        for _ in 0..<windows {
            // Some 8 errors an hour, from 100 chances each.
            func hour() -> Int { (0..<100).count { _ in random.next() % 100 < 8 } }
            let baseline = (0..<24).reduce(0) { sum, _ in sum + hour() }
            let verdict = AlertRule.usual.verdict(
                window: hour(),
                baseline: baseline,
                attempts: nil
            )
            if verdict.isAlert { alerts += 1 }
        }
        #expect(alerts <= 1, "\(alerts) of \(windows)")
    }

    private struct Words: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }

    @Test func `no rule from numbers out of their ranges`() {
        #expect(AlertRule() == .usual)
        #expect(AlertRule(windowMinutes: 0) == nil)
        #expect(AlertRule(windowMinutes: .max) == nil)
        #expect(AlertRule(baselineWindows: 1001) == nil)
        #expect(AlertRule(score: .nan) == nil)
        #expect(AlertRule(minimumCount: 0) == nil)
    }

    // row B7: the examples of Wilson's and Newcombe's intervals that Newcombe (1998) prints.
    @Test func `confidence intervals`() throws {
        let first = Proportion(successes: 56, trials: 70)
        let second = Proportion(successes: 48, trials: 80)
        let found = try #require(first.interval)
        #expect((found.low * 10_000).rounded() == 6918 && (found.high * 10_000).rounded() == 8770)
        let difference = try #require(first.difference(to: second))
        #expect((difference.value * 10_000).rounded() == 2000)
        #expect((difference.low * 10_000).rounded() == 524)
        #expect((difference.high * 10_000).rounded() == 3339)
        let none = try #require(Proportion(successes: 0, trials: 10).interval)
        #expect(none.low == 0 && (none.high * 10_000).rounded() == 2775)
        #expect(Proportion(successes: 0, trials: 0).interval == nil)
        #expect(first.difference(to: Proportion(successes: 0, trials: 0)) == nil)
    }

    @Test(
        arguments: [
            (0, "0"), (1, "1"), (-0.05, "-0.05"), (1.0 / 3, "0.333333"), (0.000_000_4, "0"),
            (12.5, "12.5"), (-1e-9, "0"), (123_456_789.25, "123456789.25"),
        ] as [(Double, String)]
    )
    func `decimals`(_ value: Double, _ text: String) {
        #expect(JSONValue.decimal(value) == .number(text))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func `no decimals of`(_ value: Double) { #expect(JSONValue.decimal(value).isNull) }

    @Test func `no more rows than there may be`() {
        let rows = (0...NamedRows.limit).map { number in
            StageRow(
                stage: "\(number)",
                count: 1,
                p50: 1,
                p95: 1,
                p99: 1,
                max: 1,
                threshold: 0,
                overThreshold: 1,
                isSlow: true
            )
        }
        let answer = AlertRowsAnswer(Self.question, rows)
        let json = AnswerText(answer).json
        #expect(json["rows"]?.array?.count == NamedRows.limit)
        #expect(json["omitted"] == .integer(1))
        #expect(answer.alerts == rows.count, "those that are left out count, too")
        #expect(answer.tables.map(\.rows.count) == [NamedRows.limit])
    }

    private static let question = ReportEcho(
        environment: .production,
        at: Instant(milliseconds: 0),
        known: nil,
        sequence: 0,
        from: nil,
        to: nil
    )
}
