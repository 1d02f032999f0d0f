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

    // Killed at any time: what stands whole is kept, the rest is written.
    @Test func `on from where it was stopped`() async throws {
        try await Self.with { ledger, output in
            let arguments = [
                "export", "--customer", "ann-12", "--output", output, "--format", "ndjson",
                "--format", "sqlite", "--format", "html", "--at", "2026-01-10",
            ]
            // Stopped at its beginning: it knows what it is.
            let none = try await ledger.run(arguments + ["--resume"])
            #expect(none.code == 66 && none.problemCode == "no_input")
            #expect(try await ledger.run(arguments).code == 0)
            let again = try await ledger.run(arguments)
            #expect(again.code == 73 && again.problemCode == "not_empty")
            let whole = try files(below: output)
            let manifest = try JSONValue(
                parsing: Array(Data(contentsOf: URL(filePath: output + "/manifest.json")))
            )
            let plan = try Self.plan(of: manifest)
            var tried = 0
            for kept in 0...whole.count {
                let folder = output + "-\(kept)"
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true
                )
                for file in whole.filter({ !$0.path.hasPrefix("manifest") }).prefix(kept) {
                    try file.bytes.write(to: URL(filePath: folder + "/" + file.path))
                }
                try Data("half".utf8).write(to: URL(filePath: folder + "/state.json.part"))
                try Data(plan.description.utf8).write(to: URL(filePath: folder + "/plan.json"))
                var resumed = arguments
                resumed[4] = folder
                let outcome = try await ledger.run(resumed + ["--resume"])
                #expect(outcome.code == 0, "\(outcome.errors)")
                let checked = try await Self.check(folder)
                #expect(checked.code == 0, "\(checked.output)")
                tried += 1
            }
            #expect(tried > 8)
        }
    }

    /// The plan that an export was written by.
    private static func plan(of manifest: JSONValue) throws -> JSONValue {
        .members([
            "customer": "ann-12", "environment": "production",
            "at": manifest["at"] ?? .null, "known": .null,
            "size": .string(String(manifest["size"]?.integer ?? 0)),
            "redaction": manifest["redaction"] ?? .null,
            "formats": .strings(["ndjson", "sqlite", "html"]),
            "madeAt": manifest["madeAt"] ?? .null, "checkpoint": manifest["checkpoint"] ?? .null,
        ])
    }

    @Test func `nowhere in the ledger, and nowhere that names the customer`() async throws {
        try await Self.with { ledger, output in
            let link = ledger.folder + "/link"
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: ledger.path
            )
            for place in [
                ledger.path, ledger.path + "/x", ledger.path + "/../ledger/x", link + "/x",
            ] {
                let outcome = try await ledger.run([
                    "export", "--customer", "ann-12", "--output", place,
                ])
                #expect(outcome.code == 64, "\(place): \(outcome.errors)")
            }
            let named = try await ledger.run([
                "export", "--customer", "ann-12", "--output", ledger.folder + "/for-ann-12",
            ])
            #expect(named.code == 64)
            #expect(!FileManager.default.fileExists(atPath: ledger.folder + "/for-ann-12"))
            let beside = try await ledger.run([
                "export", "--customer", "ann-12", "--output", ledger.path + "-beside",
            ])
            #expect(beside.code == 0, "\(beside.errors)")
        }
    }

    // law 6: the ledger knows where exports are, and of whom by number only
    @Test func `and notes where, for an erasure to name`() async throws {
        try await Self.with { ledger, output in
            _ = try await ledger.run(["export", "--customer", "ann-12", "--output", output])
            _ = try await ledger.run(["export", "--from", "0", "--output", output + "-2"])
            let text = try String(contentsOfFile: ledger.path + "/exports.ndjson", encoding: .utf8)
            let lines = try text.split(separator: "\n").map {
                try JSONValue(parsing: Array($0.utf8))
            }
            // Each when it began and when it was whole.
            #expect(lines.count == 4 && !text.contains("ann-12"))
            #expect(lines.map { $0["manifest"]?.isNull } == [true, false, true, false])
            #expect(lines[1]["path"]?.string?.hasSuffix("/out") == true)
            #expect(lines[1]["streams"]?.array?.count == 2)
            #expect(lines[3]["streams"]?.isNull == true)
            // A server may hold the writer's lock meanwhile: an export only reads.
            let audit = try await ledger.run(["audit"])
            #expect(audit.code == 0, "\(audit.output)")
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
