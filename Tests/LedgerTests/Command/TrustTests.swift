import Encodings
import Entitlements
import Foundation
import Testing

/// The command believes no file that somebody else could have put there.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command's configuration` {
    private static func expectDistrust(
        _ outcome: EntitleCommand.Outcome,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.code == 78, "\(outcome)", sourceLocation: sourceLocation)
        #expect(outcome.problemCode == "configuration", sourceLocation: sourceLocation)
        let hint = outcome.problem?["hint"]?.string ?? ""
        #expect(hint.contains("chmod go-w"), "\(hint)", sourceLocation: sourceLocation)
    }

    @Test func `is not taken from a folder that others can write`() async throws {
        try await CommandLedger.with { ledger in
            let manager = FileManager.default
            let open = ledger.folder + "/open"
            try manager.createDirectory(atPath: open, withIntermediateDirectories: true)
            let settings = try ledger.file("open/entitle.json", #"{"environment":"sandbox"}"#)
            let stores = try ledger.file("open/stores.json", "{}")
            let key = open + "/key"
            try manager.copyItem(atPath: ledger.path + "/key", toPath: key)
            let show = ["show", "ann"]
            let asked: [([String], [String: String])] = [
                (show, ["ENTITLE_CONFIG": settings]),
                (["import", "-", "--stores", stores], [:]), (show + ["--key-file", key], [:]),
                (show, ["ENTITLE_KEY_FILE": key]),
                (
                    [
                        "keys", "rotate-master", "--key-file", ledger.path + "/key",
                        "--new-key-file", key,
                    ], [:]
                ),
            ]
            // The control: what nobody else can write is read.
            for (words, environment) in asked.dropLast() {
                let outcome = try await ledger.run(words, environment: environment)
                #expect(outcome.code == 0, "\(words): \(outcome)")
            }
            try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
            for (words, environment) in asked {
                Self.expectDistrust(try await ledger.run(words, environment: environment))
            }
        }
    }

    // Who looks up how a command is typed may have come to set it right.
    @Test func `keeps nobody from being told how a command is typed`() async throws {
        try await withScratchDirectory { folder in
            let broken = ["ENTITLE_CONFIG": folder + "/none"]
            let asked: [[String]] = [
                [], ["--help"], ["--version"], ["help", "show"], ["show", "--help"], ["catalog"],
            ]
            for words in asked {
                let told = try await EntitleCommand.run(words, environment: broken)
                #expect(told.code == 0 && !told.output.isEmpty, "\(words): \(told)")
            }
            let mistyped = ["show", "ann", "--att", "now"]
            #expect(try await EntitleCommand.run(mistyped, environment: broken).code == 64)
            // The control
            let shown = try await EntitleCommand.run(["config", "show"], environment: broken)
            #expect(shown.code == 78)
        }
    }

    @Test func `beside the ledger is held to the same`() async throws {
        try await CommandLedger.with { ledger in
            let stores = ledger.path + "/stores.json"
            try Data("{}".utf8).write(to: URL(filePath: stores))
            #expect(try await ledger.run(["import", "-"]).code == 0)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o666],
                ofItemAtPath: stores
            )
            Self.expectDistrust(try await ledger.run(["import", "-"]))
        }
    }
}
