import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import Presentation
import Testing

/// Reports through ledger and command.
struct `A report` {
    private static func question(_ kind: ReportKind, at: Instant) -> ReportQuestion {
        ReportQuestion(
            kind,
            environment: .production,
            point: BitemporalPoint(at: at, knownAt: .everything)
        )
    }

    /// A flow that fails, an hour of January 2026.
    private static func failure(_ id: Int, _ code: String, hour: Int64, minute: Int64 = 0) -> String
    {
        let time = Sample.newYear.advanced(byMilliseconds: (hour * 60 + minute) * 60_000)
        return Sample.line(
            "f-\(id)-\(code)",
            "flow.failed",
            "customer/c\(id % 7)",
            data: #"{"flowId":"f-\#(id)","errorCode":"\#(code)"}"#,
            time: time
        )
    }

    /// Two days of hours with some failures each, and more of one code in the last hour.
    private static func failures(planted: Int) -> [String] {
        var lines: [String] = []
        for hour in Int64(0)..<48 {
            for number in 0..<3 {
                lines.append(failure(Int(hour) * 100 + number, "NETWORK_ERROR", hour: hour))
            }
        }
        for number in 0..<planted {
            lines.append(failure(9000 + number, "DB_ERROR", hour: 47, minute: 30))
        }
        return lines
    }

    private static let now = Sample.newYear.advanced(byMilliseconds: 48 * 3_600_000 - 1)

    // row 10.5
    @Test(arguments: [(0, []), (4, []), (12, ["DB_ERROR"])])
    func `of errors finds what was planted, and is silent else`(
        _ planted: Int,
        _ alerts: [String]
    ) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(
                Sample.submissions(Self.failures(planted: planted))
            )
            let made = try scratch.ledger.reports.report(Self.question(.errors, at: Self.now))
            guard case .errors(let answer) = made else {
                Issue.record("it is the report that was asked for")
                return
            }
            #expect(answer.rows.first?.code == "NETWORK_ERROR")
            #expect(answer.rows.first?.count == 144 && answer.rows.first?.recent == 3)
            let found = answer.rows.filter(\.isAlert).map(\.code)
            #expect(found == alerts && answer.alerts == alerts.count, "\(AnswerText(answer))")
            // An hour later it is past.
            let later = Self.now.advanced(byMilliseconds: 3_600_000)
            let past = try scratch.ledger.reports.report(Self.question(.errors, at: later))
            #expect(past.answer.alerts == 0)
        }
    }

    // row 10.5; Stores, rule 5
    @Test func `of errors counts refused signals and recorded failures too`() async throws {
        try await ScratchLedger.with { scratch in
            let clock = scratch.clock
            for minute in [Int64(0), 61] {
                for _ in 0..<5 {
                    try scratch.ledger.appender.countRefusal(
                        "bad_signature",
                        of: "app_store",
                        environment: .production
                    )
                }
                clock.now = clock.now.advanced(byMilliseconds: minute * 60_000)
            }
            _ = try scratch.ledger.appender.record(
                Sample.submissions([
                    Sample.line(
                        "f",
                        "failure.recorded",
                        "store/play_store",
                        data: #"{"errorCode":"TIMEOUT","retryable":true}"#
                    ),
                    Sample.line(
                        "odd",
                        "signal.noted",
                        "store/play_store",
                        data: #"{"name":"verification_refused","detail":"code X, count -1"}"#
                    ),
                    Sample.line(
                        "many",
                        "signal.noted",
                        "store/play_store",
                        data: #"""
                            {"name":"verification_refused",\#
                            "detail":"code y, count 9999999999999999999"}
                            """#
                    ),
                ])
            )
            try scratch.ledger.appender.countRefusal(
                "bad_signature",
                of: "app_store",
                environment: .production
            )
            let report = try scratch.ledger.reports.errors(Self.question(.errors, at: clock.now))
            let counts = report.errors.mapValues(\.inRange)
            #expect(
                counts == [
                    ErrorReport.Key(origin: .failure, code: "TIMEOUT"): 1,
                    // The first is noted at once, the others with the next of a later hour.
                    ErrorReport.Key(origin: .refusal, code: "bad_signature"): 11,
                ]
            )
        }
    }

    // T4, E1: a report is of a prefix and of a world.
    @Test func `is made from what is known, in one world`() async throws {
        try await ScratchLedger.with { scratch in
            let priced = { (id: String, more: String) in
                Sample.line(
                    id,
                    "purchase.completed",
                    "purchase/app_store/\(id)",
                    data: #"""
                        {"transactionId":"t","productId":"p","productKind":"consumable",\#
                        "priceMicros":5,"currencyCode":"EUR"}
                        """#,
                    more: more
                )
            }
            let passed = { (id: String, more: String) in
                Sample.line(
                    "ok-" + id,
                    "verification.passed",
                    "purchase/app_store/\(id)",
                    data: #"{"method":"manual"}"#,
                    more: more
                )
            }
            let sandbox = #","environment":"sandbox""#
            _ = try scratch.ledger.appender.record(
                Sample.submissions([
                    priced("1", ""), passed("1", ""), priced("2", ""), passed("2", ""),
                    priced("3", sandbox), passed("3", sandbox),
                ])
            )
            func gross(_ known: UInt64, _ world: StoreEnvironment) throws -> Int128 {
                var question = Self.question(.revenue, at: scratch.clock.now)
                question.point.knownAt = .sequence(known)
                question.environment = world
                let report = try scratch.ledger.reports.revenue(question)
                return report.lines.values.reduce(0) { $0 + $1.taken.micros }
            }
            #expect(try gross(0, .production) == 0)
            #expect(try gross(1, .production) == 0)
            #expect(try gross(2, .production) == 5)
            #expect(try gross(6, .production) == 10)
            #expect(try gross(6, .sandbox) == 5)
            #expect(throws: LedgerFault.self) { try gross(7, .production) }
        }
    }

    private static func filled(_ body: (ScratchLedger) async throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(
                Sample.submissions(
                    Self.failures(planted: 12) + Sample.ownedPurchase("ann", "app_store/1")
                )
            )
            // What the command reads is written then.
            try scratch.close()
            try await body(scratch)
        }
    }

    // rows 10.5, 10.6
    @Test(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
    func `ends with 1 where an alert is to fail it`() async throws {
        try await Self.filled { scratch in
            let arguments = ["report", "errors", "--ledger", scratch.path, "--at"]
            let alarmed = try await EntitleCommand.run(
                arguments + [Self.now.description, "--fail-on-alert"]
            )
            #expect(alarmed.code == 1, "\(alarmed.errors)")
            #expect(alarmed.output.contains("alerts: 1"))
            // Controls: unasked, and a day before.
            let unasked = try await EntitleCommand.run(arguments + [Self.now.description])
            #expect(unasked.code == 0)
            let before = Self.now.advanced(byMilliseconds: -Instant.millisecondsPerDay)
            let quiet = try await EntitleCommand.run(
                arguments + [before.description, "--fail-on-alert"]
            )
            #expect(quiet.code == 0 && quiet.output.contains("alerts: 0"))
        }
    }

    // row 10.6
    @Test(
        .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence),
        arguments: ReportKind.allCases
    )
    func `is the same from the command as from the ledger`(_ kind: ReportKind) async throws {
        try await Self.filled { scratch in
            let at = Self.now.description
            let base = ["report", kind.rawValue, "--ledger", scratch.path, "--at", at]
            let printed = try await EntitleCommand.run(base + ["--json"])
            let sheet = try await EntitleCommand.run(base + ["--csv"])
            let text = try await EntitleCommand.run(base)
            try scratch.reopen()
            let answer = try scratch.ledger.reports.report(Self.question(kind, at: Self.now))
            #expect(printed.code == 0 && printed.output == answer.jsonText.description + "\n")
            #expect(sheet.output == answer.csv)
            #expect(text.output.hasPrefix("\(kind.rawValue) at \(at) (production, sequence"))
        }
    }

    // row 10.6
    @Test(
        .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence),
        arguments: [
            ["sums"], [], ["revenue", "--from", "soon"], ["revenue", "--json", "--csv"],
            ["stages", "--thresholds", "fast"], ["errors", "--window-minutes", "0"],
            ["errors", "--score", "nan"], ["errors", "--minimum-count", "-1"],
        ]
    )
    func `that cannot be understood is refused`(_ arguments: [String]) async throws {
        try await Self.filled { scratch in
            let outcome = try await EntitleCommand.run(
                ["report"] + arguments + ["--ledger", scratch.path]
            )
            #expect(outcome.code == 64, "\(outcome.errors)")
            #expect(outcome.output.isEmpty && !outcome.errors.isEmpty)
        }
    }
}
