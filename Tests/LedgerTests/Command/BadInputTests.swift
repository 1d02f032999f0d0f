import Encodings
import Entitlements
import Foundation
import Testing

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A line that an import cannot take` {
    private static let before = Sample.purchaseLine("before", "app_store/1")
    private static let after = Sample.purchaseLine("after", "app_store/2")

    // Section 2: refused with the field's path; exit 65
    @Test(arguments: BadLine.all)
    func `stops it with exit 65, a code and a path`(_ bad: BadLine) async throws {
        try await CommandLedger.with { ledger in
            let stopped = try await ledger.importing([Self.before, bad.line, Self.after])
            #expect(stopped.code == 65, "\(stopped.errors)")
            #expect(stopped.problemCode == bad.code)
            #expect(stopped.json?.counts == ["appended": 1, "duplicate": 0, "refused": 1])
            let refusal = stopped.json?["refusals"]?.array?.first
            #expect(refusal?["line"]?.integer == 2)
            #expect(refusal?["code"]?.string == bad.code)
            if !bad.path.isEmpty { #expect(refusal?["path"]?.string == bad.path) }

            let skipped = try await ledger.importing(
                [Self.before, bad.line, Self.after],
                ["--on-error", "skip"]
            )
            #expect(skipped.code == 0, "\(skipped.errors)")
            #expect(skipped.json?.counts == ["appended": 1, "duplicate": 1, "refused": 1])
            #expect(skipped.json?["sequence"]?.integer == 3)
        }
    }

    @Test func `is passed over if it is 10 MB long`() async throws {
        try await CommandLedger.with { ledger in
            let long = Sample.line(
                "long",
                "signal.noted",
                "customer/ann",
                data: #"{"name":"n","detail":"\#(String(repeating: "x", count: 10 << 20))"}"#
            )
            let stopped = try await ledger.importing([Self.before, long, Self.after])
            #expect(stopped.code == 65)
            #expect(stopped.problemCode == "too_large")
            let skipped = try await ledger.importing(
                [long, Self.before, long, Self.after],
                ["--on-error", "skip"]
            )
            #expect(skipped.code == 0, "\(skipped.errors)")
            #expect(skipped.json?.counts == ["appended": 1, "duplicate": 1, "refused": 2])
            let lines = skipped.json?["refusals"]?.array?.compactMap { $0["line"]?.integer }
            #expect(lines == [1, 3])
        }
    }

    @Test func `is refused if it is not UTF-8`() async throws {
        try await CommandLedger.with { ledger in
            let bad = Array(Sample.line("x", "sync.completed", "customer/").utf8)
            let at = try #require(bad.firstRange(of: Array("customer/".utf8)))
            for bytes: [UInt8] in [
                [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC0, 0xAF],
            ] {
                var line = bad
                line.insert(contentsOf: bytes, at: at.upperBound)
                let input = line + [0x0A] + Array(Self.after.utf8)
                let outcome = try await ledger.run(
                    ["import", "-", "--on-error", "skip"],
                    bytes: input
                )
                #expect(outcome.code == 0)
                #expect(outcome.json?["refusals"]?.array?.first?["code"]?.string == "malformed")
                #expect(outcome.json?["sequence"]?.integer == 2)
            }
        }
    }

    // E1: exit 4
    @Test func `is a conflict, exit 4, if its id has other content`() async throws {
        try await CommandLedger.with { ledger in
            let other = Sample.purchaseLine("before", "app_store/9")
            let stopped = try await ledger.importing([Self.before, other, Self.after])
            #expect(stopped.code == 4)
            #expect(stopped.problemCode == "conflict")
            #expect(stopped.problem?["detail"]?.string?.contains("subject") == true)
            #expect(stopped.json?["sequence"]?.integer == 2)
        }
    }

    // T3
    @Test func `is refused if the recorded time that it wants kept is not possible`() async throws {
        try await CommandLedger.with { ledger in
            func line(_ id: String, _ recorded: String) -> String {
                Sample.line(
                    id,
                    "sync.completed",
                    "customer/ann",
                    more: #","recordedtime":"\#(recorded)""#
                )
            }
            for recorded in ["2001-01-01T00:00:00Z", "2199-01-01T00:00:00Z"] {
                let outcome = try await ledger.importing(
                    [line("x", recorded)],
                    ["--preserve-recorded-time"]
                )
                #expect(outcome.code == 65)
                #expect(outcome.problemCode == "recorded_time")
            }
            // Without the option it is passed over.
            let plain = try await ledger.importing([line("x", "2001-01-01T00:00:00Z")])
            #expect(plain.code == 0)
            let events = try await ledger.run(["events", "--from", "1"]).lines
            #expect(events.first?["recordedtime"]?.string?.hasPrefix("20") == true)
            #expect(events.first?["recordedtime"]?.string?.hasPrefix("2001") == false)
        }
    }

    @Test func `is refused if the recorded time that it wants kept is no instant`() async throws {
        try await CommandLedger.with { ledger in
            let line = Sample.line(
                "x",
                "sync.completed",
                "customer/ann",
                more: #","recordedtime":"soon""#
            )
            let outcome = try await ledger.importing([line], ["--preserve-recorded-time"])
            #expect(outcome.code == 65, "\(outcome.output)")
        }
    }
}

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `An import` {
    @Test func `of nothing appends nothing`() async throws {
        try await CommandLedger.with { ledger in
            for text in ["", "\n", "\n \n\r\n"] {
                let file = try ledger.file("empty", text)
                let outcome = try await ledger.run(["import", file])
                #expect(outcome.code == 0, "\(outcome.errors)")
                #expect(outcome.json?.counts == ["appended": 0, "duplicate": 0, "refused": 0])
                #expect(outcome.json?["sequence"]?.integer == 1)
            }
        }
    }

    // row 6.3; E1
    @Test func `that was cut appends only the rest when it is repeated`() async throws {
        try await CommandLedger.with { ledger in
            let lines = (0..<300).map { Sample.purchaseLine("e\($0)", "app_store/\($0)") }
            let half = try await ledger.importing(Array(lines[..<150]))
            #expect(half.json?.counts == ["appended": 150, "duplicate": 0, "refused": 0])
            let whole = try await ledger.importing(lines)
            #expect(whole.json?.counts == ["appended": 150, "duplicate": 150, "refused": 0])
            let again = try await ledger.importing(lines)
            #expect(again.json?.counts == ["appended": 0, "duplicate": 300, "refused": 0])
            #expect(again.json?["sequence"]?.integer == 301)
            let events = try await ledger.run(["events"]).lines
            #expect(Set(events.compactMap { $0["id"]?.string }).count == 301)
        }
    }

    // K4
    @Test func `takes a product that the catalog does not know, and says so when asked`()
        async throws
    {
        try await CommandLedger.with { ledger in
            let lines = Sample.ownedPurchase("ann", "app_store/1")
                .map { $0.replacing("pro.month", with: "ghost") }
            #expect(try await ledger.importing(lines).code == 0)
            let show = try await ledger.show("ann", ["--at", "2026-01-10"])
            #expect(show["tier"]?.string == "free")
            #expect(show["warnings"]?.description == #"[{"code":"unmapped","productId":"ghost"}]"#)
        }
    }

    @Test func `reads several files and several lines of one document`() async throws {
        try await CommandLedger.with { ledger in
            let one = try ledger.file("one", Sample.purchaseLine("a", "app_store/1") + "\n")
            let body = RevenueCatBody.text(id: "s", user: "ann", expiration: 1_799_904_000_000)
            let pretty = "[\n" + body.replacing(",", with: ",\n") + "\n]\n"
            let two = try ledger.file("two", pretty)
            let outcome = try await ledger.run(["import", one, two])
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.json?.counts == ["appended": 2, "duplicate": 0, "refused": 0])
        }
    }
}
