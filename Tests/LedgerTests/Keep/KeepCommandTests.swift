import Encodings
import Entitlements
import Foundation
import Testing

/// The commands that keep and prove a ledger, from outside.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct KeepCommandTests {
    private static func filled(
        _ body: (CommandLedger, _ key: String) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            let lines = (0..<100).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            try ledger.record(lines)
            let manifest = try Data(contentsOf: URL(filePath: ledger.path + "/ledger.json"))
            let key = try JSONValue(parsing: Array(manifest))["publicKey"]?.string
            try await body(ledger, try #require(key))
        }
    }

    @Test func `an archive is written, continued and checked`() async throws {
        try await Self.filled { ledger, _ in
            let first = try await ledger.run(["archive"])
            #expect(first.json?["archived"]?.integer == 301)
            try ledger.record(Sample.ownedPurchase("late", "app_store/late"))
            let more = try await ledger.run(["archive"])
            #expect(more.json?["archived"]?.integer == 304)
            let sound = try await ledger.run(["archive", "--check"])
            #expect(sound.code == 0)
            #expect(sound.json?["ok"]?.bool == true)
            let file = URL(filePath: ledger.path + "/archive/tile/0/000")
            var bytes = try Data(contentsOf: file)
            bytes[77] ^= 1
            try bytes.write(to: file)
            let damaged = try await ledger.run(["archive", "--check"])
            #expect(damaged.code == 3)
            #expect(damaged.json?["faults"]?.array?.first?["kind"]?.string == "archive")
            // One that is not there is not damaged.
            let nowhere = ledger.folder + "/nowhere"
            for command in [["archive", "--check", "--to"], ["audit", "--archive"]] {
                #expect(try await ledger.run(command + [nowhere]).code == 66)
            }
            let device = try await ledger.run(["archive", "--to", "/dev/null"])
            #expect(device.code == 73 && device.problem?["detail"]?.string == "/dev/null")
        }
    }

    @Test func `a backup is restored beside, and the old ledger is left alone`() async throws {
        try await Self.filled { ledger, _ in
            let (place, new) = (ledger.folder + "/backup", ledger.folder + "/new")
            let made = try await ledger.run(["backup", place])
            #expect(made.code == 0, "\(made.errors)")
            #expect(made.json?["log"]?["events"]?.integer == 301)
            #expect(!FileManager.default.fileExists(atPath: place + "/key"))
            let plan = try await ledger.run(["restore", place, "--into", new, "--dry-run"])
            #expect(plan.json?["restored"]?.integer == 301)
            #expect(!FileManager.default.fileExists(atPath: new))
            let restored = try await ledger.run(["restore", place, "--into", new])
            #expect(restored.code == 0, "\(restored.errors)")
            let again = try await ledger.run(["restore", place, "--into", new])
            #expect(again.code == 73)
            let point = ["--at", "2026-01-10", "--known-sequence", "301"]
            let answers = try await [ledger.path, new].asyncMap { path in
                try await EntitleCommand.run(
                    ["show", "u7", "--ledger", path, "--json"] + point,
                    environment: ["ENTITLE_KEY_FILE": ledger.path + "/key"]
                ).output
            }
            #expect(answers[0] == answers[1])
            #expect(answers[0].contains("app_store/7"))
            // Without the key that is kept elsewhere nothing opens.
            let keyless = try await EntitleCommand.run(["show", "u7", "--ledger", new, "--json"])
            #expect(keyless.code == 78)
        }
    }

    // T3: the way out of what a clock that ran ahead recorded
    @Test func `a restore goes on under a new name, and signs`() async throws {
        try await Self.filled { ledger, _ in
            let (place, new) = (ledger.folder + "/backup", ledger.folder + "/new")
            #expect(try await ledger.run(["backup", place]).code == 0)
            let restore = [
                "restore", place, "--into", new, "--until-sequence", "200", "--continue",
            ]
            #expect(try await ledger.run(restore).code == 64)
            // One name and key that sign two histories, and one that no checkpoint can have.
            for refused in try [ledger.origin, "bad name+"] {
                #expect(try await ledger.run(restore + ["--origin", refused]).code == 64)
                #expect(!FileManager.default.fileExists(atPath: new))
            }
            let restored = try await ledger.run(restore + ["--origin", "ledger.example/again"])
            #expect(restored.code == 0, "\(restored.errors)")
            let key = ["ENTITLE_KEY_FILE": ledger.path + "/key"]
            func ask(_ words: [String]) async throws -> EntitleCommand.Outcome {
                let more = ["--ledger", new, "--json"]
                return try await EntitleCommand.run(words + more, environment: key)
            }
            let first = try await ask(["events", "--from", "200"]).json
            #expect(first?["data"]?["name"]?.string == "log_continued")
            #expect(first?["data"]?["detail"]?.string?.contains(", checkpoint 301 ") == true)
            let signed = try await ask(["checkpoint"])
            #expect(signed.code == 0 && signed.output.contains("ledger.example/again"))
        }
    }

    @Test func `a proof is checked without a ledger`() async throws {
        try await Self.filled { ledger, key in
            let file = ledger.folder + "/p.tlog-proof"
            let made = try await ledger.run(["prove", "17", "--output", file])
            #expect(made.code == 0, "\(made.errors)")
            let check = ["check-proof", file, "--key", key, "--json"]
            let proven = try await EntitleCommand.run(check)
            #expect(proven.code == 0)
            #expect(proven.json?["sequence"]?.integer == 17)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try Data(text.replacing("index 17", with: "index 16").utf8)
                .write(to: URL(filePath: file))
            #expect(try await EntitleCommand.run(check).code == 3)
            try Data("no proof".utf8).write(to: URL(filePath: file))
            #expect(try await EntitleCommand.run(check).code == 65)
            #expect(try await ledger.run(["prove", "9999"]).problemCode == "unknown_sequence")
        }
    }

    @Test func `an older checkpoint shows a log that was cut or forked`() async throws {
        try await Self.filled { ledger, key in
            let noted = try ledger.file("noted", try await note(ledger))
            try ledger.record(Sample.ownedPurchase("late", "app_store/late"))
            let newer = try ledger.file("newer", try await note(ledger))
            #expect(try await ledger.run(["audit", "--against", noted]).code == 0)
            let growth = ledger.folder + "/growth"
            _ = try await ledger.run(["prove", "--consistency", noted, "--output", growth])
            let check = ["check-proof", growth, "--key", key, "--old"]
            #expect(try await EntitleCommand.run(check + [noted]).code == 0)
            #expect(try await EntitleCommand.run(check + [newer]).code == 3)
            // The same history up to 301, then another one under the same key.
            let (place, fork) = (ledger.folder + "/backup", ledger.folder + "/fork")
            _ = try await ledger.run(["backup", place])
            let cut = ["restore", place, "--into", fork, "--until-sequence", "301"]
            #expect(try await ledger.run(cut).code == 0)
            try FileManager.default.copyItem(atPath: ledger.path + "/key", toPath: fork + "/key")
            let against = ["audit", "--quick", "--json", "--ledger", fork, "--against"]
            #expect(try await EntitleCommand.run(against + [noted]).code == 0)
            let shorter = try await EntitleCommand.run(against + [newer])
            #expect(shorter.code == 3)
            #expect(shorter.output.contains("the log is cut"))
            let other = CommandLedger(folder: ledger.folder)
            let line = Sample.ownedPurchase("other", "app_store/other").map { $0 + "\n" }.joined()
            let imported = try await EntitleCommand.run(
                ["import", "-", "--ledger", fork, "--json"],
                input: Array(line.utf8)
            )
            #expect(imported.code == 0, "\(imported.errors)")
            #expect(imported.errors.contains("no checkpoint"))
            let forked = try await EntitleCommand.run(against + [newer])
            #expect(forked.code == 3)
            #expect(forked.output.contains("the log is a fork"))
            #expect(try await other.run(["audit", "--quick", "--against", newer]).code == 0)
        }
    }

    // An audit's own process has neither this one's standard input nor what else a shell lent it.
    @Test(.timeLimit(.minutes(60)))
    func `an older checkpoint is read wherever it comes from`() async throws {
        try await Self.filled { ledger, _ in
            let noted = Array(try await note(ledger).utf8)
            let against = ["audit", "--quick", "--json", "--ledger", ledger.path, "--against"]
            for (place, shell) in [("/dev/fd/7", "exec 7< in"), ("/dev/stdin", "true")] {
                let audited = try await EntitleCommand.run(
                    against + [place],
                    input: noted,
                    behind: shell
                )
                try #require(audited.code == 0, "\(place): \(audited)")
            }
            let none = try await EntitleCommand.run(against + ["/dev/stdin"], input: [0x61])
            #expect(none.code == 65 && none.errors.contains("/dev/stdin"), "\(none)")
        }
    }

    // Z6: an erasure reaches backups that are there, and whatever is restored from a later archive
    @Test func `whoever was erased does not come back by any restore`() async throws {
        try await Self.filled { ledger, _ in
            let (near, far) = (ledger.folder + "/near", ledger.folder + "/far")
            _ = try await ledger.run(["backup", near])
            // Out of reach, as a copy on another machine is.
            try FileManager.default.copyItem(atPath: near, toPath: far)
            #expect(try await ledger.run(["erase", "u7", "--confirm", "u7"]).code == 0)
            _ = try await ledger.run(["archive"])
            let sources = [
                [near], [ledger.path + "/archive", "--vault", far + "/vault"], [far],
            ]
            var known: [Bool] = []
            for (number, source) in sources.enumerated() {
                let new = ledger.folder + "/new-\(number)"
                let cut = ["--into", new, "--until-sequence", "301"]
                let restored = try await ledger.run(["restore"] + source + cut)
                #expect(restored.code == 0, "\(restored.errors)")
                let shown = try await EntitleCommand.run(
                    ["show", "u7", "--at", "2026-01-10", "--ledger", new, "--json"],
                    environment: ["ENTITLE_KEY_FILE": ledger.path + "/key"]
                )
                known.append(shown.output.contains("app_store/7"))
            }
            // The control: an old copy alone knows everybody, which the erasure's receipt says.
            #expect(known == [false, false, true])
        }
    }

    private func note(_ ledger: CommandLedger) async throws -> String {
        try #require(try await ledger.run(["checkpoint"]).json?["checkpoint"]?.string)
    }
}

extension Array {
    fileprivate func asyncMap<Result>(
        _ body: (Element) async throws -> Result
    ) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
