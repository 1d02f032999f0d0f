import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import Testing

/// How the command exports, goes on, and checks.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command exports` {
    private static func with(
        _ body: (_ ledger: CommandLedger, _ output: String) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            let lines =
                Sample.ownedPurchase("ann-12", "app_store/1") + [
                    Sample.line(
                        "g",
                        "grant.given",
                        "customer/ann-12",
                        data: #"{"grantId":"g","tier":"pro","reason":"asked for"}"#
                    )
                ]
            try ledger.record(lines)
            try await body(ledger, ledger.folder + "/out")
        }
    }

    private static func key(_ ledger: CommandLedger) throws -> String {
        let bytes = try Data(contentsOf: URL(filePath: ledger.path + "/ledger.json"))
        return try #require(JSONValue(parsing: Array(bytes))["publicKey"]?.string)
    }

    private static func check(
        _ output: String,
        _ more: [String] = []
    ) async throws -> EntitleCommand.Outcome {
        try await EntitleCommand.run(["check-export", output, "--json"] + more)
    }

    // row 8.6
    @Test func `in every format, and anybody finds it whole`() async throws {
        try await Self.with { ledger, output in
            let formats = ExportFormat.allCases.flatMap { ["--format", $0.rawValue] }
            let outcome = try await ledger.run(
                ["export", "--customer", "ann-12", "--output", output] + formats
            )
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.json?["records"]?.integer == 4)
            let names = try FileManager.default.contentsOfDirectory(atPath: output)
            #expect(!names.contains { $0.hasSuffix(".part") || $0 == "plan.json" })
            for name in ["export.sqlite", "export.html", "events.csv", "events.ndjson"] {
                #expect(names.contains(name))
            }
            let checked = try await Self.check(output, ["--key", Self.key(ledger)])
            #expect(checked.code == 0 && checked.json?["ok"]?.bool == true, "\(checked.output)")
            #expect(checked.json?["records"]?.integer == 4)
            let mode = try FileManager.default.attributesOfItem(atPath: output + "/events.csv")
            #expect(mode[.posixPermissions] as? Int == 0o600)
        }
    }

    // The control
    @Test(arguments: ["export.sqlite", "events.ndjson", "manifest.json", "proofs.ndjson"])
    func `so that a changed byte is found, and named`(_ name: String) async throws {
        try await Self.with { ledger, output in
            _ = try await ledger.run([
                "export", "--customer", "ann-12", "--output", output, "--format", "ndjson",
                "--format", "sqlite",
            ])
            let file = URL(filePath: output + "/" + name)
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: file)
            let checked = try await Self.check(output)
            #expect(checked.code == 3 && checked.json?["ok"]?.bool == false)
            let files = checked.json?["faults"]?.array?.compactMap { $0["file"]?.string } ?? []
            #expect(files.contains { $0 == name || $0 == ExportFile.signature })
        }
    }

    // What events are in the file can be imported again where nothing is hidden.
    @Test func `events that another ledger takes`() async throws {
        try await Self.with { ledger, output in
            let outcome = try await ledger.run([
                "export", "--customer", "ann-12", "--output", output, "--redact", "none",
            ])
            #expect(outcome.code == 0, "\(outcome.errors)")
            try await CommandLedger.with { other in
                let again = try await other.run(["import", output + "/events.ndjson"])
                #expect(again.json?["appended"]?.integer == 4, "\(again.errors)")
                let tier = try await other.show("ann-12", ["--at", "2026-01-20"])["tier"]
                #expect(tier == (try await ledger.show("ann-12", ["--at", "2026-01-20"])["tier"]))
            }
        }
    }

    // Z6: events of the new owner name the former one
    @Test func `what an erasure of a former owner names`() async throws {
        try await Self.with { ledger, output in
            try ledger.record(Sample.ownedPurchase("bob-12", "app_store/2"))
            let (moved, other) = (ledger.folder + "/moved", ledger.folder + "/other")
            let transfer = ["transfer", "app_store/1", "--to", "eve-12"]
            let transferred = try await ledger.run(transfer + ["--reason", "ticket 12"])
            #expect(transferred.code == 0, "\(transferred)")
            for (customer, place) in [("eve-12", moved), ("bob-12", other)] {
                let made = try await ledger.run(
                    ["export", "--customer", customer, "--output", place]
                )
                #expect(made.code == 0, "\(made)")
            }
            let erased = try await ledger.run(["erase", "ann-12", "--confirm", "ann-12"])
            #expect(erased.code == 0, "\(erased)")
            // The control: an export that names her nowhere is not told.
            let named = erased.json?["receipt"]?["exports"]?.array?.compactMap { $0.string }
            #expect(named?.count == 1, "\(erased)")
            #expect(named?.first?.hasSuffix("/moved") == true, "\(erased)")
        }
    }

    // Killed at any time: what stands whole is kept, the rest is written.
    @Test func `on from where it was stopped, outside of the ledger`() async throws {
        try await Self.with { ledger, output in
            let arguments = ["export", "--customer", "ann-12", "--output", output]
            let none = try await ledger.run(arguments + ["--resume"])
            #expect(none.code == 66 && none.problemCode == "no_input")
            #expect(try await ledger.run(arguments).code == 0)
            let again = try await ledger.run(arguments)
            #expect(again.code == 73 && again.problemCode == "not_empty")
            let inside = ["export", "--customer", "ann-12", "--output", ledger.path + "/x"]
            #expect(try await ledger.run(inside).code == 64)
        }
    }

    @Test func `nothing of one who is unknown, or of nothing`() async throws {
        try await Self.with { ledger, output in
            let unknown = try await ledger.run(["export", "--customer", "bob", "--output", output])
            #expect(unknown.code == 66 && unknown.problemCode == "unknown_customer")
            let empty = try await ledger.run(["export", "--from", "900", "--output", output])
            #expect(empty.code == 66 && empty.problemCode == "empty_range")
            for usage in [
                ["--output", output], ["--customer", "a", "--from", "1", "--output", output],
                ["--from", "0", "--format", "html", "--output", output],
                ["--customer", "ann-12", "--redact", "some", "--output", output],
            ] {
                #expect(try await ledger.run(["export"] + usage).code == 64)
            }
            #expect(!FileManager.default.fileExists(atPath: output))
            #expect(try await Self.check(output).code == 66)
        }
    }

    // access.logged by hand
    @Test func `and notes the reason that was given`() async throws {
        try await Self.with { ledger, output in
            _ = try await ledger.run(["timeline", "ann-12"])
            for command in [["timeline", "ann-12"], ["explain", "ann-12", "export"]] {
                let outcome = try await ledger.run(command + ["--reason", "ticket 12"])
                #expect(outcome.code == 0, "\(outcome.errors)")
            }
            _ = try await ledger.run(["timeline", "bob", "--reason", "ticket 12"])
            _ = try await ledger.run([
                "export", "--customer", "ann-12", "--output", output, "--reason", "ticket 12",
            ])
            let events = try await ledger.run(["events", "--type", "access.logged"]).lines
            #expect(
                events.map { $0["data"]?["action"]?.string } == ["timeline", "explain", "export"]
            )
            #expect(events.allSatisfy { $0["subject"]?.string == "customer/ann-12" })
            #expect(events.allSatisfy { $0["data"]?["actor"]?.string == "command" })
            let exported = try String(contentsOfFile: output + "/events.ndjson", encoding: .utf8)
            #expect(exported.contains("access.logged"))
        }
    }
}
