import Encodings
import Entitlements
import Foundation
import LedgerAPI
import Presentation
import Testing

/// How the command shows a customer over time.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A timeline, from the command` {
    private static func with(
        _ body: (CommandLedger) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            let late = Sample.line(
                "refund",
                "revocation.refunded",
                "purchase/app_store/1",
                time: Sample.day(10)
            )
            let lines = Sample.ownedPurchase("ann", "app_store/1") + [late]
            try ledger.record(lines)
            try await body(ledger)
        }
    }

    @Test func `is drawn into a file or to standard output, the same`() async throws {
        try await Self.with { ledger in
            let ask = ["timeline", "ann", "--at", "2026-01-20"]
            let file = ledger.folder + "/ann.svg"
            let written = try await ledger.run(ask + ["--svg", file])
            #expect(written.code == 0, "\(written.errors)")
            let printed = try await ledger.run(ask + ["--svg", "-"])
            #expect(printed.output == (try String(contentsOfFile: file, encoding: .utf8)))
            let answer = try #require(try await ledger.run(ask).json)
            #expect(written.json == answer, "JSON that is asked for stands beside the file")
            let words = ask + ["--svg", file, "--ledger", ledger.path]
            #expect(try await EntitleCommand.run(words).output.isEmpty)
            let timeline = try TimelineAnswer.fields.read(answer)
            #expect(printed.output == TimelineChart(timeline).svg)
            let nowhere = try await ledger.run(ask + ["--svg", "/nonexistent/x.svg"])
            #expect(nowhere.code == 73 && nowhere.problemCode == "cannot_create")
        }
    }

    // K1: before the first catalog the first one is in force, which came into force later than this.
    @Test func `draws what is free from the first event on, as it was allowed then`() async throws {
        try await CommandLedger.with { ledger in
            let use = #"{"useId":"u","featureId":"scan"}"#
            try ledger.record([Sample.line("u", "usage.recorded", "customer/ann", data: use)])
            let asked = try await ledger.run(["can", "ann", "scan", "--at", "2026-01-05"])
            #expect(asked.code == 0, "\(asked)")
            let answer = try #require(try await ledger.run(["timeline", "ann"]).json)
            let timeline = try TimelineAnswer.fields.read(answer)
            // The control: the answer's stretches begin with the first change.
            let scan = try #require(timeline.features.first { $0.name == "scan" })
            #expect(try #require(scan.value.first).start > Sample.day(5))
            let lanes = TimelineChart(timeline).lanes
            let free = try #require(lanes.first { $0.label == "scan" }?.bars.first)
            #expect(free.interval.start == Sample.newYear && free.interval.end == nil)
            #expect(lanes.first { $0.label == "export" }?.bars.isEmpty == true)
        }
    }

    // T1, T3: imported now, months after all of it held.
    @Test func `marks what was learned of late`() async throws {
        try await Self.with { ledger in
            let answer = try #require(try await ledger.run(["timeline", "ann"]).json)
            let late = try #require(answer["late"]?.array)
            #expect(late.count == answer["events"]?.array?.count)
            #expect(late.allSatisfy { $0["seconds"]?.integer.map { $0 > 86_400 } ?? false })
            let text = try await EntitleCommand.run(["timeline", "ann", "--ledger", ledger.path])
            #expect(text.code == 0 && text.output.contains("days late"))
            #expect(text.output.contains("× refunded or revoked"))
            #expect(text.output.contains("x taken back"))
            #expect(text.output.contains("o-> learned late"))
        }
    }

    // T4: stores tell of a transaction with each later message; a moved end, and one moved back, are news.
    @Test func `marks no repeat of what was said last`() async throws {
        try await Self.with { ledger in
            func period(_ id: String, until end: Int64, saidAt said: Int64) -> String {
                Sample.line(
                    id,
                    "purchase.renewed",
                    "purchase/app_store/1",
                    data: """
                        {"transactionId":"t-buy-app_store/1","productId":"pro.month",\
                        "productKind":"auto_renewable","expiresAt":"\(Sample.day(end))",\
                        "observedAt":"\(Sample.day(said))"}
                        """
                )
            }
            try ledger.record([
                period("again", until: 32, saidAt: 20), period("moved", until: 40, saidAt: 21),
                period("back", until: 32, saidAt: 22),
                Sample.line(
                    "asked",
                    "verification.passed",
                    "purchase/app_store/1",
                    data: #"{"method":"store_api"}"#
                ),
            ])
            let answer = try #require(try await ledger.run(["timeline", "ann"]).json)
            let timeline = try TimelineAnswer.fields.read(answer)
            let late = Set(timeline.late.map(\.sequence))
            let repeats = timeline.events.filter { !late.contains($0.sequence) }
            #expect(repeats.map(\.id) == ["again", "asked"])
            let lines = timeline.textLines(columns: 80, isFull: false)
            #expect(lines.count { $0.contains("days late") } == late.count && late.count > 4)
            #expect(TimelineChart(timeline).marks.count { $0.isLate } == late.count)
        }
    }

    @Test func `fits 80 columns, and has the rest with --all`() async throws {
        try await Self.with { ledger in
            let long = "app_store/" + String(repeating: "1", count: 60) + "-end"
            try ledger.record(Sample.ownedPurchase("ann", long))
            let ask = ["timeline", "ann", "--ledger", ledger.path]
            let text = try await EntitleCommand.run(ask).output
            let lines = text.split(separator: "\n")
            // A name stands whole where it heads its stretches.
            let wide = lines.filter { $0.count > 80 && !$0.hasSuffix("-end") }
            #expect(wide.isEmpty && lines.count > 20, "\(wide)")
            #expect(lines.contains { $0.contains("…") && $0.contains("-end  ") }, "\(text)")
            #expect(!text.contains("  recorded  "))
            let all = try await EntitleCommand.run(ask + ["--all"]).output
            #expect(all.contains("  recorded  "))
        }
    }
}
