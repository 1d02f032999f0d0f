import Encodings
import Entitlements
import Foundation
import Glibc
import LMDBStorage
import LedgerOperations
import Testing

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command says why it cannot begin` {
    /// Runs a command and expects an exit code and the problem's code, nothing on stdout.
    private static func expect(
        _ arguments: [String],
        _ exit: Int32,
        _ code: String,
        environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await EntitleCommand.run(arguments + ["--json"], environment: environment)
        #expect(outcome.code == exit, "\(outcome.errors)", sourceLocation: sourceLocation)
        #expect(outcome.problemCode == code, "\(outcome.errors)", sourceLocation: sourceLocation)
        #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
        // RFC 9457 members
        for member in ["type", "title", "detail", "code", "hint"] {
            #expect(outcome.problem?[member] != nil, "\(member)", sourceLocation: sourceLocation)
        }
    }

    static let commands: [[String]] = [
        ["show", "ann"], ["can", "ann", "export"], ["timeline", "ann"], ["events"], ["audit"],
        ["replay"], ["status"], ["rebuild"], ["checkpoint"], ["import", "-"],
        ["grant", "ann", "--tier", "pro"], ["claim", "ann", "app_store/1"],
        ["trial", "ann", "week"],
        ["use", "ann", "scan"], ["link", "ann", "bob"], ["withdraw", "ann", "g"],
        ["catalog", "show"],
    ]

    @Test(arguments: commands)
    func `if there is no ledger, another directory or a newer format`(
        _ command: [String]
    ) async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/ledger"
            try await Self.expect(command + ["--ledger", path], 66, "no_ledger")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try await Self.expect(command + ["--ledger", path], 65, "not_a_ledger")
            let manifest = URL(filePath: path + "/ledger.json")
            try Data("{}".utf8).write(to: manifest)
            try await Self.expect(command + ["--ledger", path], 65, "not_a_ledger")
            try Data(#"{"format":99,"what":"ever"}"#.utf8).write(to: manifest)
            try await Self.expect(command + ["--ledger", path], 65, "newer_format")
            let left = try FileManager.default.contentsOfDirectory(atPath: path)
            #expect(left == ["ledger.json"])
        }
    }

    @Test func `if the key is missing or is another one`() async throws {
        try await CommandLedger.with { ledger in
            let key = ledger.path + "/key"
            let right = try String(contentsOfFile: key, encoding: .utf8)
            let wrong = try ledger.file("wrong", String(repeating: "ab", count: 32))
            let short = try ledger.file("short", "abcd")
            let show = ["show", "ann", "--ledger", ledger.path]
            try await Self.expect(show + ["--key-file", wrong], 78, "wrong_key")
            try await Self.expect(show + ["--key-file", short], 78, "bad_key")
            try await Self.expect(show + ["--key-file", "/nowhere"], 78, "no_key")
            try await Self.expect(show, 78, "wrong_key", environment: ["ENTITLE_KEY_FILE": wrong])
            try await Self.expect(show, 78, "bad_key", environment: ["ENTITLE_KEY": "x"])
            try FileManager.default.removeItem(atPath: key)
            try await Self.expect(show, 78, "no_key")
            // The flag comes before the variable.
            let elsewhere = try ledger.file("elsewhere", right)
            let outcome = try await EntitleCommand.run(
                show + ["--key-file", elsewhere],
                environment: ["ENTITLE_KEY_FILE": wrong]
            )
            #expect(outcome.code == 0, "\(outcome.errors)")
            let given = try await EntitleCommand.run(
                ["show", "ann"],
                environment: [
                    "ENTITLE_LEDGER": ledger.path,
                    "ENTITLE_KEY": right.trimmingCharacters(in: .whitespacesAndNewlines),
                ]
            )
            #expect(given.code == 0, "\(given.errors)")
        }
    }

    // Storage: one process writes, others read on
    @Test func `if another process writes, and reads all the same`() async throws {
        try await ScratchLedger.with { scratch in
            let arguments = ["--ledger", scratch.path]
            try await Self.expect(["grant", "ann", "--tier", "pro"] + arguments, 75, "locked")
            try await Self.expect(["import", "-"] + arguments, 75, "locked")
            let shown = try await EntitleCommand.run(["show", "ann", "--json"] + arguments)
            #expect(shown.code == 0, "\(shown.errors)")
            try scratch.close()
            let granted = try await EntitleCommand.run(
                ["grant", "ann", "--tier", "pro"] + arguments
            )
            #expect(granted.code == 0, "\(granted.errors)")
        }
    }

    @Test func `if a file to import is a directory or is not there`() async throws {
        try await CommandLedger.with { ledger in
            for file in [ledger.folder, "/nowhere"] {
                try await Self.expect(["import", file, "--ledger", ledger.path], 66, "no_input")
            }
        }
    }

    /// Nobody reads it, root neither.
    static let unreadable = "/proc/sys/vm/drop_caches"
    static let isRefused =
        FileManager.default.fileExists(atPath: unreadable)
        && !FileManager.default.isReadableFile(atPath: unreadable)

    @Test(.enabled(if: isRefused, "this system has no file that nobody may read"))
    func `if a file that it is to read may not be read, or is not there`() async throws {
        try await CommandLedger.with { ledger in
            for words in [
                ["salvage", "--dry-run", "--ledger", ledger.path, "--checkpoint"],
                ["simulate", "trigger", "TRANSACTION", "--authority"],
            ] {
                try await Self.expect(words + [Self.unreadable], 77, "not_permitted")
                try await Self.expect(words + ["/nowhere"], 66, "no_file")
            }
        }
    }

    @Test(.enabled(if: isRefused, "this system has no file that nobody may read"))
    func `if the files of its vault may not be opened`() async throws {
        try await CommandLedger.with { ledger in
            let data = ledger.path + "/vault/data.mdb"
            try FileManager.default.removeItem(atPath: data)
            try FileManager.default.createSymbolicLink(
                atPath: data,
                withDestinationPath: Self.unreadable
            )
            try await Self.expect(["show", "ann", "--ledger", ledger.path], 77, "not_permitted")
        }
    }

    // A machine and its database start at once: a service manager tries 75 again, and leaves 78 alone.
    @Test func `if the cluster's database is away, as what passes by itself`() async throws {
        try await withScratchDirectory { folder in
            func refused(of schema: String?, _ exit: Int32, _ code: String) async throws {
                let file = ClusterFile(
                    // Nobody listens there.
                    postgres: "host=\(folder) dbname=ledger",
                    schema: schema,
                    node: "a",
                    address: "http://a.example"
                )
                try file.write(toLedgerAt: folder)
                try await Self.expect(["serve", "--cluster", "--ledger", folder], exit, code)
            }
            try await refused(of: nil, 75, "cluster_unreachable")
            // Control: what is configured does not pass.
            try await refused(of: "No Name", 78, "configuration")
        }
    }

    // What the other tests have made by functions, as its users make it
    @Test func `unless init made a ledger, with its catalog and its own key`() async throws {
        try await withScratchDirectory { folder in
            let (path, catalog) = (folder + "/ledger", folder + "/catalog.json")
            try Data(Sample.catalog().description.utf8).write(to: URL(filePath: catalog))
            let made = try await EntitleCommand.run(
                ["init", "--catalog", catalog, "--ledger", path, "--json"]
            )
            #expect(made.code == 0, "\(made.errors)")
            #expect(made.json?["origin"]?.string == "ledger.local/log")
            #expect(ScratchTarget.permissions(path + "/key") == 0o600)
            let shown = try await EntitleCommand.run(["show", "ann", "--ledger", path, "--json"])
            #expect(shown.json?["tier"]?.string == "free", "\(shown)")
            #expect(shown.json?["sequence"]?.integer == 1)
        }
    }

    @Test func `if a ledger is made where something stands`() async throws {
        try await CommandLedger.with { ledger in
            try await Self.expect(["init", "--ledger", ledger.path], 73, "not_empty")
            try await Self.expect(["init", "--ledger", ledger.folder], 73, "not_empty")
            try await Self.expect(["init", "--ledger", "/proc/none/ledger"], 73, "cannot_create")
        }
    }

    // Below an empty path all would stand in the root of the file system.
    @Test func `if the path of what it makes is empty`() async throws {
        try await withScratchDirectory { folder in
            let restore = ["restore", folder + "/none", "--into"]
            try await Self.expect(restore + ["", "--dry-run"], 73, "cannot_create")
            // The control
            try await Self.expect(restore + [folder + "/new", "--dry-run"], 66, "no_source")
        }
        let fault = #expect(throws: LedgerOpenFault.self) {
            try LedgerDirectory.requireRoom(at: "")
        }
        #expect(fault?.code == .cannotCreate)
    }

    @Test func `if the file of a key for a server has none in its first line`() async throws {
        try await withScratchDirectory { folder in
            let file = folder + "/token"
            let show = ["show", "ann", "--server", "http://127.0.0.1:1", "--token-file", file]
            for text in ["", "\n", " \r\nkey\n"] {
                try Data(text.utf8).write(to: URL(filePath: file))
                try await Self.expect(show, 66, "no_input")
            }
            // The control: nobody listens there.
            try Data("key\n".utf8).write(to: URL(filePath: file))
            try await Self.expect(show, 69, "unreachable")
        }
    }

    // A closed stream is /dev/null, opened to be written to.
    @Test func `if a standard input that it is to read cannot be`() async throws {
        for words in [["catalog", "validate", "-"], ["catalog", "gates", "--file", "-"]] {
            let outcome = try await EntitleCommand.run(words + ["--json"], behind: "exec 0<&-")
            #expect(outcome.code == 66 && outcome.problemCode == "no_input", "\(outcome)")
        }
    }

    // Before anything is opened or made: the flag is at fault, and no configuration.
    @Test(arguments: [
        (["serve", "--ephemeral"], "--port", "65536"), (["demo"], "--port", "65536"),
        (["demo"], "--store-port", "65536"), (["simulate", "serve"], "--port", "65536"),
        (
            ["simulate", "trigger", "grace_recovered", "--deliver-to", "http://127.0.0.1:1"],
            "--port", "65536"
        ), (["serve"], "--log-level", "nope"),
    ])
    func `with exit 64 where a port or a level of the log is none`(
        _ words: [String],
        _ flag: String,
        _ value: String
    ) async throws {
        let outcome = try await EntitleCommand.run(
            words + [flag, value, "--json"],
            behind: EntitleCommand.closedOutput
        )
        #expect(outcome.code == 64, "\(outcome)")
        #expect(outcome.problem?["detail"]?.string == flag, "\(outcome)")
    }

    static let usage: [[String]] = [
        [], ["show"], ["show", "ann", "--at", "never"], ["show", "ann", "--known", "2026-13-01"],
        ["show", "ann", "--known", "now", "--known-sequence", "1"],
        ["show", "ann", "--known-sequence", "-1"], ["show", "ann", "--environment", "moon"],
        ["show", "ann", "--nonsense"], ["show", ""], ["can", "ann"], ["claim", "ann", "nowhere"],
        ["grant", "ann"], ["import"], ["import", "-", "--format", "tarot"],
        ["import", "-", "--on-error", "pray"], ["events", "--type", "purchase.invented"],
        ["events", "--purchase", "x"], ["invented"], ["use", "ann"],
        ["use", "ann", "scan", "--amount", "-1"],
        ["grant", "ann", "--tier", "pro", "--expires", "soon"],
    ]

    @Test func `with exit 64 if it is used wrongly`() async throws {
        try await CommandLedger.with { ledger in
            for arguments in Self.usage where !arguments.isEmpty {
                let outcome = try await ledger.run(arguments)
                #expect(outcome.code == 64, "\(arguments): \(outcome.errors)")
                #expect(outcome.output.isEmpty, "\(arguments)")
                #expect(outcome.problemCode == "usage", "\(arguments): \(outcome.errors)")
            }
        }
    }

    // What is said to people would be written over the file that was opened under its number.
    @Test(arguments: ["2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"])
    func `unless its streams are closed, which then are nothing`(_ streams: String) async throws {
        try await withScratchDirectory { folder in
            let ledger = folder + "/ledger"
            #expect(try await EntitleCommand.run(["init", "--ledger", ledger]).code == 0)
            let granted = try await EntitleCommand.run(
                ["grant", "carol", "--feature", "nope", "--ledger", ledger],
                behind: "exec \(streams)"
            )
            #expect(granted.code == 0)
            let audit = try await EntitleCommand.run(["audit", "--ledger", ledger])
            #expect(audit.code == 0, "\(audit.output) \(audit.errors)")
        }
    }

    // What is recorded stays: what its own import refuses is not recorded.
    @Test func `with exit 65 where a value is not of its field's shape`() async throws {
        try await withScratchDirectory { folder in
            let ledger = ["--ledger", folder + "/ledger"]
            #expect(try await EntitleCommand.run(["init"] + ledger).code == 0)
            let long = String(repeating: "a", count: 70_000)
            let grant = ["grant", "carol", "--feature", "export"]
            for arguments in [
                grant + ["--grant-id", ""], grant + ["--until", "2500-01-01"],
                grant + ["--reason", long], grant + ["--grant-id", "x\ny"],
                ["grant", "carol", "--feature", ""], ["grant", "carol", "--feature", long],
            ] {
                let outcome = try await EntitleCommand.run(arguments + ledger)
                #expect(outcome.code == 65, "\(arguments.last?.prefix(20) ?? "") \(outcome.errors)")
            }
            let asked = try await EntitleCommand.run(["can", "carol", long] + ledger)
            #expect(asked.code == 64, "\(asked.errors)")
            let events = try await EntitleCommand.run(["events", "--customer", "carol"] + ledger)
            #expect(events.output.isEmpty, "\(events.output)")
        }
    }

    @Test func `with exit 64 or 65 where a name or a checkpoint is none`() async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/ledger"
            let ledger = ["--ledger", path]
            let refused = try await EntitleCommand.run(["init", "--origin", "a b"] + ledger)
            #expect(refused.code == 64, "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: path), "nothing is half-made")
            #expect(try await EntitleCommand.run(["init"] + ledger).code == 0)
            let file = folder + "/none"
            try Data("not a checkpoint".utf8).write(to: URL(filePath: file))
            for arguments in [["audit", "--against", file], ["prove", "--consistency", file]] {
                let outcome = try await EntitleCommand.run(arguments + ledger)
                #expect(outcome.code == 65 && outcome.errors.contains(file), "\(outcome.errors)")
            }
            let wish = ["listen", "--forward-to", "nope"]
            #expect(try await EntitleCommand.run(wish + ledger).code == 64)
        }
    }
}
