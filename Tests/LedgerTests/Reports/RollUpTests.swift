import EntitlementLedger
import Entitlements
import Foundation
import Testing

/// The roll-up of revenue, and what keeps it honest (law 4).
struct `The roll-up of revenue` {
    private static func lines(_ number: Int, day: Int64, price: Int = 100) -> [String] {
        let purchase = "purchase/app_store/\(number)"
        return [
            Sample.line(
                "buy-\(number)-\(price)",
                "purchase.completed",
                purchase,
                data: #"""
                    {"transactionId":"t","productId":"p","productKind":"consumable",\#
                    "priceMicros":\#(price),"currencyCode":"EUR"}
                    """#,
                time: Sample.day(day)
            ),
            Sample.line(
                "ok-\(number)-\(price)",
                "verification.passed",
                purchase,
                data: #"{"method":"manual"}"#,
                time: Sample.day(day)
            ),
        ]
    }

    private static func gross(
        _ scratch: ScratchLedger,
        at: Instant? = nil,
        known: BitemporalPoint.Known = .everything,
        range: Interval? = nil
    ) throws -> Int128 {
        var question = ReportQuestion(
            .revenue,
            environment: .production,
            point: BitemporalPoint(at: at ?? scratch.clock.now, knownAt: known)
        )
        if let range { question.range = range }
        let report = try scratch.ledger.reports.revenue(question)
        #expect(try report.months == scratch.ledger.reports.revenueFromLog(question).months)
        return report.lines.values.reduce(0) { $0 + $1.taken.micros }
    }

    private static func file(_ scratch: ScratchLedger) -> String {
        scratch.viewsPath + "/revenue-production"
    }

    // law 4, row 10.6
    @Test func `is carried along by what is recorded`() async throws {
        try await ScratchLedger.with { scratch in
            for number in 0..<30 {
                _ = try scratch.ledger.appender.record(
                    Sample.submissions(Self.lines(number, day: Int64(number)))
                )
                #expect(try Self.gross(scratch) == Int128(100 * (number + 1)))
            }
            // A purchase that it holds is told anew (P1).
            _ = try scratch.ledger.appender.record(
                Sample.submissions(Self.lines(3, day: 3, price: 40))
            )
            #expect(try Self.gross(scratch) == 2940)
            // From the file, by another process.
            try scratch.ledger.reports.rollUp(.production)
            try scratch.reopen()
            #expect(FileManager.default.fileExists(atPath: Self.file(scratch)))
            #expect(try Self.gross(scratch) == 2940)
        }
    }

    // T1: what is told of later times counts when they have come.
    @Test func `knows what is still to come`() async throws {
        try await ScratchLedger.with { scratch in
            let now = scratch.clock.now
            let day = Instant.millisecondsPerDay
            let today = Int64((now.milliseconds - Sample.newYear.milliseconds) / day) + 1
            _ = try scratch.ledger.appender.record(
                Sample.submissions(
                    Self.lines(1, day: today - 3) + Self.lines(2, day: today + 2)
                )
            )
            try scratch.ledger.reports.rollUp(.production)
            #expect(try Self.gross(scratch) == 100)
            let later = now.advanced(byMilliseconds: 3 * day)
            #expect(try Self.gross(scratch, at: later) == 200)
            // Before the time that it was made at, and before what it holds was known.
            let earlier = now.advanced(byMilliseconds: -4 * day)
            #expect(try Self.gross(scratch, at: earlier) == 0)
            #expect(try Self.gross(scratch, known: .sequence(1)) == 0)
            // Days and parts of days.
            let start = Sample.day(today - 3)
            let whole = Interval(start: start, end: Sample.day(today - 2))
            #expect(try Self.gross(scratch, range: whole) == 100)
            let afterwards = Interval(start: start.advanced(byMilliseconds: 1), end: nil)
            #expect(try Self.gross(scratch, range: afterwards) == 0)
        }
    }

    // law 4: a file that is not what was written is as good as none.
    @Test func `is not believed if its file is damaged, cut short or another ledger's`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(Sample.submissions(Self.lines(1, day: 1)))
            try scratch.ledger.reports.rollUp(.production)
            let url = URL(filePath: Self.file(scratch))
            let whole = try Data(contentsOf: url)
            var random = SystemRandomNumberGenerator()
            for number in 0..<40 {
                var damaged = whole
                if number < 30 {
                    let place = Int.random(in: damaged.indices, using: &random)
                    damaged[place] ^= UInt8.random(in: 1...255, using: &random)
                } else {
                    damaged.removeLast(Int.random(in: 1...damaged.count, using: &random))
                }
                try scratch.close()
                try damaged.write(to: url)
                try scratch.reopen()
                #expect(try Self.gross(scratch) == 100)
            }
            try await ScratchLedger.with { other in
                _ = try other.ledger.appender.record(
                    Sample.submissions(Self.lines(1, day: 1, price: 7))
                )
                try other.close()
                try whole.write(to: URL(filePath: Self.file(other)))
                try other.reopen()
                #expect(try Self.gross(other) == 7)
            }
            // Control: one that is whole is believed, whatever it says.
            try scratch.close()
            try whole.write(to: url)
            try scratch.reopen()
            #expect(try Self.gross(scratch) == 100)
            try scratch.close()
            #expect(try Data(contentsOf: url) == whole)
        }
    }

    // P13: a link joins purchases that the roll-up counts apart.
    @Test func `joins purchases that a link makes one`() async throws {
        try await ScratchLedger.with { scratch in
            let link = Sample.line(
                "link",
                "purchase.linked",
                "purchase/app_store/1",
                data: #"{"alias":"app_store/2"}"#
            )
            _ = try scratch.ledger.appender.record(
                Sample.submissions(Self.lines(1, day: 1) + Self.lines(2, day: 1))
            )
            try scratch.ledger.reports.rollUp(.production)
            #expect(try Self.gross(scratch) == 200)
            // Both have the transaction `t`: it is one.
            _ = try scratch.ledger.appender.record(Sample.submissions([link]))
            #expect(try Self.gross(scratch) == 100)
            try scratch.ledger.reports.rollUp(.production)
            #expect(try Self.gross(scratch) == 100)
        }
    }
}
