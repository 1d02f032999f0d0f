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

    /// Each command that has no others below it, with the words that it is called by.
    private static func commands() async throws -> [(words: [String], says: JSONValue)] {
        let help = try await EntitleCommand.run(["--experimental-dump-help"])
        let root = try #require(help.json?["command"])
        var waiting: [(words: [String], says: JSONValue)] = [([], root)]
        var found: [(words: [String], says: JSONValue)] = []
        while let command = waiting.popLast() {
            let parts = (command.says["subcommands"]?.array ?? []).filter {
                $0["commandName"] != "help"
            }
            if parts.isEmpty { found.append(command) }
            for part in parts {
                let word = part["commandName"]?.string ?? ""
                waiting.append((command.words + [word], part))
            }
        }
        return found
    }

    /// What is typed at each command's end of its help is no mistake in usage.
    ///
    /// `bench` is not run: it measures for minutes; nor are `demo` and `simulate serve`, which serve until
    /// they are told to end, and what would tell a server that is not the test's.
    @Test func `hold an example of each command`() async throws {
        let shown = try await Self.commands().filter { $0.says["shouldDisplay"] != .bool(false) }
        for (name, command) in shown {
            let lines = (command["discussion"]?.string ?? "").split(separator: "\n")
                .filter { $0.hasPrefix("  $ entitle ") }
            #expect(!lines.isEmpty, "\(name) has no example")
            for line in lines
            where name != ["bench"] && name != ["demo"] && !line.contains(" simulate serve ")
                && !line.contains("--deliver-to")
            {
                let words = line.split(separator: " ").dropFirst(2).map { String($0) }
                let outcome = try await EntitleCommand.run(words)
                #expect(outcome.code != 64, "\(line): \(outcome.errors)")
            }
        }
        #expect(shown.count > 40)
        #expect(try await EntitleCommand.run(["show", "alice", "--att", "now"]).code == 64)
    }

    // Interfaces, "The command": what is written around commands passes the three to each
    @Test func `name a ledger, an environment and JSON for each command`() async throws {
        for (name, command) in try await Self.commands() {
            let options = (command["arguments"]?.array ?? []).flatMap { $0["names"]?.array ?? [] }
                .compactMap { $0["name"]?.string }
            for option in ["ledger", "environment", "json"] {
                #expect(options.contains(option), "\(name) takes no --\(option)")
            }
            // Whoever opens one has its key; of the others each says that it does not.
            let opensNone = command["discussion"]?.string?.contains("opens none of your ledgers")
            #expect(options.contains("key-file") != (opensNone ?? false), "\(name)")
        }
    }

    @Test func `are JSON where no ledger is opened`() async throws {
        try await withScratchDirectory { folder in
            let (catalog, authority) = (folder + "/catalog.json", folder + "/authority.pem")
            try Data(Sample.catalog().description.utf8).write(to: URL(filePath: catalog))
            for words in [
                ["catalog", "validate", catalog], ["schemas"], ["simulate", "list"],
                ["simulate", "run", "grace_recovered"], ["simulate", "authority", authority],
                ["simulate", "trigger", "TRANSACTION", "--authority", authority, "--count", "2"],
            ] {
                let outcome = try await EntitleCommand.run(
                    words + ["--ledger", folder + "/none", "-e", "sandbox", "--json"]
                )
                #expect(outcome.code == 0, "\(words): \(outcome)")
                let printed = outcome.output.split(separator: "\n").count
                #expect(printed > 0 && printed == outcome.lines.count, "\(words): \(outcome)")
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/none"))
            let (other, root) = (folder + "/other.pem", folder + "/root.pem")
            let made = ["simulate", "authority", other, "--root", root]
            let named = try await EntitleCommand.run(made + ["--json"])
            let files = JSONValue.members(["authority": .string(other), "root": .string(root)])
            #expect(named.json == files, "\(named)")
        }
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

    // Interfaces, "The command": one form for every error
    @Test(arguments: [
        (["show", "alice", "--att", "now"], "entitle show", "Did you mean '--at'?"),
        (["catalog", "publish"], "entitle catalog publish", "<file>"),
        (["salvage", "--into", "new", "--dry-run"], "entitle salvage", "--into NEW"),
        (["--nonsense"], "entitle", "--nonsense"),
    ])
    func `say what is wrong and what to do, of usage too`(
        _ words: [String],
        _ command: String,
        _ what: String
    ) async throws {
        let hint = "`\(command) --help` says how it is typed"
        let outcome = try await EntitleCommand.run(words)
        #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 2 && lines.last == "hint: \(hint)", "\(outcome.errors)")
        #expect(lines.first?.hasPrefix("error: ") == true && outcome.errors.contains(what))
        let asJSON = try await EntitleCommand.run(words + ["--json"])
        #expect(asJSON.code == 64 && asJSON.problem?["hint"]?.string == hint, "\(asJSON)")
    }

    // row 9.4; what is no UTF-8 is read as U+FFFD, whichever byte it is
    @Test func `are UTF-8, or are refused`() async throws {
        try await CommandLedger.with { ledger in
            func id(_ byte: String) -> String { "\"$(printf 'ali\\\(byte)')\"" }
            let words = "set -- erase \(id("377")) --confirm \(id("375")) --json"
            let bytes = try await EntitleCommand.run(
                [],
                behind: words + " --ledger '\(ledger.path)'"
            )
            for refused in [bytes, try await ledger.run(["show", "ali\u{FFFD}"])] {
                #expect(refused.code == 64, "\(refused)")
                #expect(refused.problem?["title"]?.string == "an argument is not UTF-8")
            }
            // The control
            #expect(try await ledger.run(["show", "al\u{ED}"]).code == 0)
        }
    }

    @Test func `name every exit code and every format`() async throws {
        func words(_ arguments: [String]) async throws -> String {
            try await EntitleCommand.run(arguments).output.split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
        }
        let codes = try await words(["--help"])
        #expect(codes.contains("69 unreachable, 70 internal"), "\(codes.prefix(400))")
        #expect(try await words(["import", "--help"]).contains("(signed), play ("))
    }

    // Flags > variables > the configuration file
    @Test func `name an environment, and so do settings`() async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(Sample.ownedPurchase("ann", "app_store/1"))
            let file = try ledger.file("entitle.json", #"{"environment":"sandbox"}"#)
            func listed(
                _ environment: [String: String],
                _ more: [String] = []
            ) async throws -> Int {
                let outcome = try await ledger.run(["events"] + more, environment: environment)
                #expect(outcome.code == 0, "\(outcome)")
                return outcome.lines.count
            }
            #expect(try await listed([:]) == 4, "the control: events of all")
            // The catalog holds in each.
            #expect(try await listed(["ENTITLE_ENVIRONMENT": "sandbox"]) == 1)
            #expect(try await listed(["ENTITLE_CONFIG": file]) == 1)
            #expect(try await listed(["ENTITLE_CONFIG": file], ["-e", "production"]) == 4)
            for words in [["events"], ["tail", "--limit", "0"]] {
                let moon = ["ENTITLE_ENVIRONMENT": "moon"]
                let refused = try await ledger.run(words, environment: moon)
                #expect(refused.code == 64, "\(refused)")
                #expect(refused.problem?["detail"]?.string == "--environment", "\(refused)")
            }
            let add = ["webhooks", "add", "--private-address"]
            for (more, environment) in [
                ([], "production"), (["-e", "sandbox"], "sandbox"), (["--of", "local"], "local"),
            ] {
                let added = try await ledger.run(add + ["https://127.0.0.1/\(environment)"] + more)
                #expect(added.json?["environments"] == .strings([environment]), "\(added)")
            }
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func `say which of what is recorded is followed`() async throws {
        try await CommandLedger.with { ledger in
            let subject = "purchase/app_store/1"
            let late = Sample.line("r", "revocation.refunded", subject, time: Sample.day(10))
            try ledger.record(Sample.ownedPurchase("ann", "app_store/1") + [late])
            let tail = ["tail", "--after", "0", "--limit", "1"]
            let since = try await ledger.run(tail + ["--since", "2026-01-05"])
            #expect(since.lines.map { $0["id"]?.string } == ["r"], "\(since)")
            let until = try await ledger.run(tail + ["--until", "2026-01-05"])
            #expect(until.lines.map { $0["id"]?.string } == ["buy-app_store/1"], "\(until)")
            #expect(try await ledger.run(["tail", "--limit", "0", "--since", "-1h"]).code == 0)
            for command in ["events", "tail"] {
                let refused = try await ledger.run([command, "--limit=-1"])
                #expect(refused.code == 64, "\(refused)")
            }
        }
    }

    @Test func `may leave out what stands elsewhere`() async throws {
        try await CommandLedger.with { ledger in
            // Without a customer everybody is asked about, of stores that are not configured here.
            for words in [["sync"], ["sync", "--backfill"]] {
                let asked = try await ledger.run(words)
                #expect(asked.code == 78 && asked.problemCode == "not_configured", "\(asked)")
            }
            #expect(try await ledger.run(["sync", "ann", "--backfill"]).code == 64)
            let leave = ["cluster", "leave", ledger.folder, "--end-cluster", "--json"]
            let left = try await EntitleCommand.run(leave)
            #expect(left.code == 78, "\(left)")
            #expect(left.problem?["detail"]?.string == ledger.folder + "/cluster.json")
            // An instant that is counted back from now.
            #expect(try await ledger.run(["show", "ann", "--accept-clock", "-1h"]).code == 0)
            let demo = try await EntitleCommand.run(["demo", "--customers", "0", "--json"])
            #expect(demo.problem?["detail"]?.string == "--customers", "\(demo)")
        }
    }
}
