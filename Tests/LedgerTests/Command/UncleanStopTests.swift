import Encodings
import Entitlements
import Foundation
import Testing

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `After a writer that was stopped` {
    /// Lends a ledger with a grant, and the mark that a killed writer leaves.
    private static func stopped(
        _ body: (CommandLedger, _ mark: String) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            let granted = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            let mark = ledger.path + "/unclean"
            // One that closes takes its mark away.
            #expect(!FileManager.default.fileExists(atPath: mark))
            try Data().write(to: URL(filePath: mark))
            try await body(ledger, mark)
        }
    }

    private static func truncate(_ ledger: CommandLedger, _ file: String) throws {
        let file = try FileHandle(forUpdating: URL(filePath: ledger.path + "/" + file))
        try file.truncate(atOffset: 8192)
        try file.close()
    }

    // The negative control of the next one
    @Test func `a sound ledger answers, and its next writer takes the mark away`() async throws {
        try await Self.stopped { ledger, mark in
            let shown = try await ledger.run(["show", "ann"])
            #expect(shown.code == 0, "\(shown.errors)")
            #expect(shown.errors.isEmpty)
            #expect(FileManager.default.fileExists(atPath: mark))
            let granted = try await ledger.run(["grant", "bob", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            #expect(!FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test(arguments: [["show", "ann"], ["grant", "bob", "--tier", "pro"], ["status"]])
    func `a command finds a damaged log before it opens it`(_ words: [String]) async throws {
        try await Self.stopped { ledger, mark in
            try Self.truncate(ledger, "log/data.mdb")
            let outcome = try await ledger.run(words)
            #expect(outcome.code == 3, "\(outcome)")
            #expect(outcome.problemCode == "damaged")
            let title = outcome.problem?["title"]?.string
            #expect(title?.hasPrefix("the last command that wrote") == true, "\(outcome.errors)")
            #expect(FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test func `damaged views keep nobody from an answer`() async throws {
        try await Self.stopped { ledger, _ in
            let views = ledger.path + "/views/"
            let current = try String(contentsOfFile: views + "current", encoding: .utf8)
            try FileManager.default.removeItem(atPath: views + current)
            let shown = try await ledger.run(["show", "ann"])
            #expect(shown.code == 0, "\(shown.errors)")
        }
    }

    @Test func `a running writer is its own check`() async throws {
        try await ScratchLedger.with { scratch in
            #expect(FileManager.default.fileExists(atPath: scratch.path + "/unclean"))
            let shown = try await EntitleCommand.run(
                ["show", "ann", "--json", "--ledger", scratch.path]
            )
            #expect(shown.code == 0, "\(shown.errors)")
            try scratch.close()
            #expect(!FileManager.default.fileExists(atPath: scratch.path + "/unclean"))
        }
    }
}

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A file that ends its reader` {
    // Quality, section 2: no death that is not reported
    @Test(arguments: ["log/data.mdb", "vault/data.mdb"])
    func `is told of by whoever dies, and by the audit in its report`(
        _ file: String
    ) async throws {
        try await CommandLedger.with { ledger in
            let granted = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            let sound = try await ledger.run(["audit"])
            #expect(sound.code == 0, "\(sound.errors)\(sound.output)")

            let handle = try FileHandle(forUpdating: URL(filePath: ledger.path + "/" + file))
            try handle.truncate(atOffset: 8192)
            try handle.close()
            let shown = try await ledger.run(["show", "ann"])
            #expect(shown.code == 3, "\(shown)")
            #expect(shown.output.isEmpty)
            #expect(shown.problemCode == "damaged", "\(shown.errors)")
            let audit = try await ledger.run(["audit"])
            #expect(audit.code == 3, "\(audit)")
            #expect(audit.json?["ok"]?.bool == false, "\(audit.output)")
            #expect(audit.json?["faults"]?.array?.isEmpty == false)
        }
    }
}
