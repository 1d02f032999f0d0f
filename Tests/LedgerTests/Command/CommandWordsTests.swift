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
                    && beyond.problem?["hint"]?.string?.contains("the log has") == true
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
            let text = try await EntitleCommand.run(["status", "--ledger", ledger.path])
            #expect(text.output.hasPrefix("ok: "), "\(text.output)")
            #expect(text.output.contains("2 production") && !text.output.contains("{"))
        }
    }
}
