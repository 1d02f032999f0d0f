import Encodings
import Foundation
import Testing

/// What the command says to somebody who mistyped, and what it says of itself.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A command's words` {
    @Test(arguments: [
        (["shwo", "ann"], "show"), (["catalog", "pubish", "f"], "publish"),
        (["keys", "lits"], "list"), (["zzzz"], nil),
    ])
    func `name the command that was meant`(_ words: [String], _ near: String?) async throws {
        let outcome = try await EntitleCommand.run(words)
        #expect(outcome.code == 64)
        let hint = near.map { "hint: did you mean \($0)?" } ?? "hint: `entitle --help` lists them"
        #expect(outcome.errors.contains(hint), "\(outcome.errors)")
    }

    @Test(arguments: [["--help"], ["help", "show"], ["catalog", "--help"], ["--version"]])
    func `are not in the way of help`(_ words: [String]) async throws {
        #expect(try await EntitleCommand.run(words).code == 0)
    }

    /// What is typed at each command's end of its help is no mistake in usage.
    ///
    /// `bench` is not run: it measures for minutes; nor are `demo` and `simulate serve`, which serve until
    /// they are told to end, and what would tell a server that is not the test's.
    @Test func `hold an example of each command`() async throws {
        let help = try await EntitleCommand.run(["--experimental-dump-help"])
        var commands = try [#require(help.json?["command"])]
        var leaves = 0
        while let command = commands.popLast() {
            let name = command["commandName"]?.string ?? ""
            let parts = (command["subcommands"]?.array ?? []).filter {
                $0["commandName"] != "help" && $0["shouldDisplay"] != .bool(false)
            }
            commands += parts
            guard parts.isEmpty else { continue }
            leaves += 1
            let lines = (command["discussion"]?.string ?? "").split(separator: "\n")
                .filter { $0.hasPrefix("  $ entitle ") }
            #expect(!lines.isEmpty, "\(name) has no example")
            for line in lines
            where name != "bench" && name != "demo" && !line.contains(" simulate serve ")
                && !line.contains("--deliver-to")
            {
                let words = line.split(separator: " ").dropFirst(2).map { String($0) }
                let outcome = try await EntitleCommand.run(words)
                #expect(outcome.code != 64, "\(line): \(outcome.errors)")
            }
        }
        #expect(leaves > 40)
        #expect(try await EntitleCommand.run(["show", "alice", "--att", "now"]).code == 64)
    }

    @Test func `warn of what no catalog lists, and give it`() async throws {
        try await CommandLedger.with { ledger in
            for (words, near) in [
                (["--tier", "prro"], "the tier prro"), (["--feature", "exprot"], "mean export?"),
            ] {
                let warned = try await ledger.run(["grant", "ann"] + words)
                #expect(warned.code == 0 && warned.errors.contains("warning:"))
                #expect(warned.errors.contains(near), "\(warned.errors)")
            }
            let known = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(known.code == 0 && known.errors.isEmpty, "\(known.errors)")
        }
    }

    @Test func `name the flag, the file and the way out`() async throws {
        try await CommandLedger.with { ledger in
            let until = try await ledger.run(["grant", "ann", "--tier", "pro", "--until", "30d"])
            #expect(until.code == 64 && until.problem?["detail"]?.string == "--until")
            let beyond = try await ledger.run(["prove", "99999"])
            #expect(
                beyond.code == 65
                    && beyond.problem?["title"]?.string?.contains("the log has") == true
            )
            let file = ledger.path + ".bad.ndjson"
            try Data("{}\n".utf8).write(to: URL(filePath: file))
            defer { try? FileManager.default.removeItem(atPath: file) }
            let refused = try await ledger.run(["import", file])
            #expect(refused.code == 65)
            #expect(refused.problem?["detail"]?.string?.hasPrefix(file + ", line 1") == true)
        }
    }

    @Test func `say how the ledger is`() async throws {
        try await CommandLedger.with { ledger in
            #expect(try await ledger.run(["grant", "ann", "--tier", "pro"]).code == 0)
            let status = try await ledger.run(["status"])
            #expect(status.code == 0 && status.json?["health"] == "ok", "\(status)")
            for part in ["log", "vault", "free"] {
                #expect(status.json?["disk"]?[part]?.integer ?? 0 > 1000, "\(part)")
            }
            let text = try await EntitleCommand.run(["status", "--ledger", ledger.path])
            #expect(text.output.hasPrefix("ok: "), "\(text.output)")
            #expect(text.output.contains("2 production") && !text.output.contains("{"))
        }
    }

    @Test func `say where each setting comes from, and no secret`() async throws {
        try await withScratchDirectory { folder in
            let file = folder + "/entitle.json"
            try Data(#"{"port":8792,"host":"::1"}"#.utf8).write(to: URL(filePath: file))
            let variables = [
                "ENTITLE_CONFIG": file, "ENTITLE_HOST": "127.0.0.2",
                "ENTITLE_KEY": String(repeating: "ab", count: 32),
            ]
            let words = ["config", "show"]
            let shown = try await EntitleCommand.run(words + ["--json"], environment: variables)
            #expect(shown.code == 0 && shown.json?["file"]?.string == file, "\(shown)")
            let settings = shown.json?["settings"]?.array ?? []
            func setting(_ name: String) -> [String?] {
                let found = settings.first { $0["name"]?.string == name }
                return ["variable", "value", "origin"].map { found?[$0]?.string }
            }
            #expect(setting("port") == ["ENTITLE_PORT", "8792", "file"])
            #expect(setting("host") == ["ENTITLE_HOST", "127.0.0.2", "variable"])
            #expect(setting("bodyBytes") == ["ENTITLE_BODY_BYTES", nil, "default"])
            #expect(setting("key") == ["ENTITLE_KEY", nil, "variable"])
            #expect(!shown.output.contains("abab"))
            let text = try await EntitleCommand.run(words, environment: variables)
            #expect(text.output.contains("ENTITLE_HOST") && !text.output.contains("abab"))
        }
    }

    @Test func `say that an export is a directory`() async throws {
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.run(["export", "--customer", "ann", "--output", "-"])
            #expect(outcome.code == 64 && outcome.errors.contains("an export is a directory"))
        }
    }
}
