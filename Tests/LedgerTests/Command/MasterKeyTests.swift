import Encodings
import Entitlements
import Foundation
import Testing

/// The master key comes from where its owner keeps it (rows 7.6 and 9.1).
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The master key` {
    private static let misconfigured: Int32 = 78

    /// Lends a ledger with a customer whose key was moved elsewhere.
    private static func kept(
        _ body: (CommandLedger, _ file: String, _ digits: String) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            let granted = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            let file = ledger.folder + "/master"
            try FileManager.default.moveItem(atPath: ledger.path + "/key", toPath: file)
            try await body(ledger, file, String(contentsOfFile: file, encoding: .utf8))
        }
    }

    @Test func `comes from a file, a variable, a descriptor or a command`() async throws {
        try await Self.kept { ledger, file, digits in
            let show = ["show", "ann"]
            let outcomes = [
                try await ledger.run(show + ["--key-file", file]),
                try await ledger.run(show + ["--key-command", "cat '\(file)'"]),
                try await ledger.run(show, environment: ["ENTITLE_KEY": digits]),
                // The child of an audit gets a key that can be read once only.
                try await ledger.run(["audit", "--key-fd", "0"], input: digits),
            ]
            for (number, outcome) in outcomes.enumerated() {
                #expect(outcome.code == 0, "\(number): \(outcome.errors)")
            }
        }
    }

    @Test func `is asked for with a reason where none can be had`() async throws {
        try await Self.kept { ledger, _, _ in
            // Sources that give none: `What is told of the master key`.
            let outcome = try await ledger.run(["show", "ann"])
            #expect(outcome.code == Self.misconfigured, "\(outcome)")
            #expect(outcome.problemCode == "no_key", "\(outcome.errors)")
        }
    }

    @Test(arguments: [["status"], ["audit"]])
    func `is not needed for what names nobody`(_ words: [String]) async throws {
        try await Self.kept { ledger, _, _ in
            let wrong = ["ENTITLE_KEY": String(repeating: "ab", count: 32)]
            for environment in [[:], wrong] {
                let asked = try await ledger.run(words, environment: environment)
                #expect(asked.code != 0, "\(asked)")
                let answered = try await ledger.run(
                    words + ["--without-key"],
                    environment: environment
                )
                #expect(answered.code == 0, "\(answered)")
                #expect(!answered.output.contains("ann"))
            }
        }
    }

    @Test func `of another ledger opens nothing and changes nothing`() async throws {
        try await Self.kept { ledger, file, digits in
            let before = try Data(contentsOf: URL(filePath: ledger.path + "/log/data.mdb"))
            let wrong = ["ENTITLE_KEY": String(repeating: "ab", count: 32)]
            for words in [["show", "ann"], ["grant", "bob", "--tier", "pro"], ["audit"]] {
                let refused = try await ledger.run(words, environment: wrong)
                #expect(refused.code == Self.misconfigured, "\(words): \(refused)")
                #expect(refused.problemCode == "wrong_key", "\(refused.errors)")
            }
            let after = try Data(contentsOf: URL(filePath: ledger.path + "/log/data.mdb"))
            #expect(after == before)
            // The negative control
            let granted = try await ledger.run([
                "grant", "bob", "--tier", "pro", "--key-file", file,
            ])
            #expect(granted.code == 0, "\(granted.errors)")
        }
    }

    @Test func `is replaced by another, after which the old one opens nothing`() async throws {
        try await Self.kept { ledger, file, _ in
            let next = try ledger.file("next", String(repeating: "5c", count: 32))
            let backup = try await ledger.run(["backup", ledger.folder + "/b", "--key-file", file])
            #expect(backup.code == 0, "\(backup.errors)")
            for _ in 0..<2 {
                // The second time it is done already.
                let rotated = try await ledger.run(
                    ["keys", "rotate-master", "--key-file", file, "--new-key-file", next]
                )
                #expect(rotated.code == 0, "\(rotated.errors)")
                #expect(rotated.json?["backupsMissed"]?.array?.isEmpty == true)
            }
            let old = try await ledger.run(["show", "ann", "--key-file", file])
            #expect(old.problemCode == "wrong_key", "\(old)")
            let shown = try await ledger.run(["show", "ann", "--key-file", next])
            #expect(shown.json?["tier"]?.string == "pro", "\(shown)")
            // The backup that it could reach goes along.
            let restored = try await EntitleCommand.run([
                "restore", ledger.folder + "/b", "--into", ledger.folder + "/r", "--key-file", next,
            ])
            #expect(restored.code == 0, "\(restored)")
        }
    }

    @Test func `of the ledger's own is drawn anew where no other is named`() async throws {
        try await CommandLedger.with { ledger in
            let granted = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            let old = try String(contentsOfFile: ledger.path + "/key", encoding: .utf8)
            #expect(try await ledger.run(["keys", "rotate-master"]).code == 0)
            #expect(try String(contentsOfFile: ledger.path + "/key", encoding: .utf8) != old)
            #expect(try await ledger.show("ann")["tier"]?.string == "pro")
            let refused = try await ledger.run(["show", "ann"], environment: ["ENTITLE_KEY": old])
            #expect(refused.problemCode == "wrong_key", "\(refused)")
        }
    }
}
