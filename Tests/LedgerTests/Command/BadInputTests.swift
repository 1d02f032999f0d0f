import Encodings
import Entitlements
import Foundation
import Testing

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command import` {
    private static let before = Sample.purchaseLine("before", "app_store/1")
    private static let after = Sample.purchaseLine("after", "app_store/2")

    @Test func `stops at a line that it cannot take, with exit 65, a code and a path`() async throws
    {
        try await CommandLedger.with { ledger in
            let lines = [Self.before, "{}", Self.after]
            let stopped = try await ledger.importing(lines)
            #expect(stopped.code == 65, "\(stopped.errors)")
            #expect(stopped.problemCode == "invalid_value")
            #expect(stopped.json?.counts == ["appended": 1, "duplicate": 0, "refused": 1])
            let refusal = stopped.json?["refusals"]?.array?.first
            #expect(refusal?["file"] == .null)
            #expect(refusal?["line"]?.integer == 2)
            #expect(refusal?["code"]?.string == "invalid_value")
            #expect(refusal?["path"]?.string == "specversion")
            let skipped = try await ledger.importing(lines, ["--on-error", "skip"])
            #expect(skipped.code == 0, "\(skipped.errors)")
            #expect(skipped.json?.counts == ["appended": 1, "duplicate": 1, "refused": 1])
            #expect(skipped.json?["sequence"]?.integer == 3)
            // Of several files it says in which.
            let files = ["whole", "cut"].map { ledger.folder + "/" + $0 }
            try Data(Self.before.utf8).write(to: URL(filePath: files[0]))
            try Data("{".utf8).write(to: URL(filePath: files[1]))
            let several = try await ledger.run(["import"] + files + ["--on-error", "skip"])
            #expect(several.json?["refusals"]?.array?.map { $0["file"]?.string } == [files[1]])
        }
    }

    @Test func `lists for people what it goes on behind, with its line and path`() async throws {
        try await CommandLedger.with { ledger in
            let file = try ledger.file("lines", Self.before + "\n{}\n" + Self.after + "\n")
            let words = ["import", file, "--ledger", ledger.path]
            let skipped = try await EntitleCommand.run(words + ["--on-error", "skip"])
            #expect(skipped.code == 0, "\(skipped.errors)")
            #expect(skipped.output.contains("\(file):2: specversion: "), "\(skipped.output)")
            // The control: where it stops, the fault says so.
            let stopped = try await EntitleCommand.run(words)
            #expect(stopped.code == 65 && !stopped.output.contains("specversion"))
            #expect(stopped.errors.contains("line 2: specversion"), "\(stopped.errors)")
        }
    }

    // What is recorded of one file would be told to nobody.
    @Test func `takes none of several files where one is not there`() async throws {
        try await CommandLedger.with { ledger in
            let there = try ledger.file("there", Self.before + "\n")
            for absent in [ledger.folder + "/absent", ledger.folder] {
                let refused = try await ledger.run(["import", there, absent])
                #expect(refused.code == 66 && refused.output.isEmpty, "\(refused)")
                #expect(refused.problem?["detail"]?.string == absent)
                let status = try await ledger.run(["status"])
                #expect(status.json?["sequence"]?.integer == 1, "the catalog alone")
            }
        }
    }

    // A terminal does what such characters say.
    @Test func `repeats what stands in a line as text, and no more than one reads`() async throws {
        try await CommandLedger.with { ledger in
            let long = String(repeating: "x", count: 10_000)
            let data = #"{"useId":"u","featureId":"scan","\u001b[2J\#(long)":1}"#
            let line = Sample.line("u", "usage.recorded", "customer/u", data: data)
            let file = try ledger.file("lines", line + "\n")
            let stopped = try await EntitleCommand.run(["import", file, "--ledger", ledger.path])
            #expect(stopped.code == 65 && stopped.errors.contains("data.\u{FFFD}[2Jxxx"))
            #expect(!stopped.errors.unicodeScalars.contains("\u{1B}"))
            #expect(stopped.errors.utf8.count < long.utf8.count)
        }
    }

    // Z6, several machines: an erasure elsewhere would not reach it
    @Test func `keeps no refused line on one machine of several`() async throws {
        try await CommandLedger.with { ledger in
            try Data().write(to: URL(filePath: ledger.path + "/node"))
            let kept = try await ledger.importing(["{}"], ["--on-error", "quarantine"])
            #expect(kept.code == 64 && kept.problem?["detail"]?.string == "--on-error")
            // The control: with another choice it is looked for who takes it.
            let skipped = try await ledger.importing(["{}"], ["--on-error", "skip"])
            #expect(skipped.code == 75, "\(skipped.errors)")
        }
    }

    // E1: exit 4
    @Test func `stops at a conflict with exit 4`() async throws {
        try await CommandLedger.with { ledger in
            let other = Sample.purchaseLine("before", "app_store/9")
            let stopped = try await ledger.importing([Self.before, other, Self.after])
            #expect(stopped.code == 4)
            #expect(stopped.problemCode == "conflict")
            #expect(stopped.problem?["detail"]?.string?.contains("subject") == true)
            #expect(stopped.json?["sequence"]?.integer == 2)
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

    @Test func `reads several files, of webhooks too`() async throws {
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

    // Stores, rule 6: others wrote the texts of a store's messages.
    @Test func `takes a file of webhooks with half a character`() async throws {
        try await CommandLedger.with { ledger in
            let body = RevenueCatBody.text(id: "s", user: "ann", expiration: 1_799_904_000_000)
            let broken = body.replacing(#""type""#, with: #""alias":"\ud800","type""#)
            #expect(broken != body)
            let pretty = "[\n" + broken.replacing(",", with: ",\n") + "\n]\n"
            let outcome = try await ledger.run(["import", try ledger.file("one", pretty)])
            #expect(outcome.json?.counts == ["appended": 1, "duplicate": 0, "refused": 0])
            // Events are this ledger's own, and strict.
            let event = Sample.purchaseLine("a", "app_store/1", product: #"\ud800"#)
            let refused = try await ledger.run([
                "import", "--format", "events", try ledger.file("two", event + "\n"),
            ])
            #expect(refused.code != 0)
        }
    }
}
