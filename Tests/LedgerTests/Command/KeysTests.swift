import Encodings
import Entitlements
import Foundation
import Testing

@testable import LMDBStorage

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command keeps API keys` {
    private static func create(
        _ ledger: CommandLedger,
        _ more: [String] = ["--scope", "read"]
    ) async throws -> JSONValue {
        let outcome = try await ledger.run(["keys", "create"] + more)
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try #require(outcome.json)
    }

    private static func ids(_ ledger: CommandLedger) async throws -> [String?] {
        let outcome = try await ledger.run(["keys", "list"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try #require(outcome.json?["keys"]?.array).map { $0["id"]?.string }
    }

    // row 9.4; Interfaces, "Who may": the only time that the key is shown
    @Test func `shows a key once and never its secret again`() async throws {
        try await CommandLedger.with { ledger in
            let made = try await Self.create(
                ledger,
                ["--scope", "write", "--scope", "read", "--name", "ci", "--expires", "+90d"]
            )
            #expect(made.members?.map(\.name) == ["id", "key", "scopes", "expiresAt"])
            #expect(made["scopes"] == .strings(["read", "write"]))
            let text = try #require(made["key"]?.string)
            let id = try #require(made["id"]?.string)
            #expect(text.wholeMatch(of: /el_[a-z0-9]{12}_[A-Za-z0-9_-]{43}/) != nil)
            #expect(text.hasPrefix("el_\(id)_"))
            let list = try await ledger.run(["keys", "list"])
            let key = try #require(list.json?["keys"]?.array?.first)
            #expect(key.members?.map(\.name) == ["id", "name", "scopes", "createdAt", "expiresAt"])
            #expect(key["name"]?.string == "ci")
            #expect(key["expiresAt"] == made["expiresAt"])
            let secret = Data(text.suffix(43).utf8)
            for file in try files(below: ledger.path) {
                #expect(file.bytes.range(of: secret) == nil, "\(file.path)")
            }
        }
    }

    @Test func `lets nobody else read the file`() async throws {
        try await CommandLedger.with { ledger in
            _ = try await Self.create(ledger)
            let attributes = try FileManager.default.attributesOfItem(
                atPath: ledger.path + "/keys.json"
            )
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(!FileManager.default.fileExists(atPath: ledger.path + "/keys.json.new"))
        }
    }

    @Test func `revokes a key once`() async throws {
        try await CommandLedger.with { ledger in
            let one = try #require(try await Self.create(ledger)["id"]?.string)
            let two = try #require(
                try await Self.create(ledger, ["--scope", "admin"])["id"]?.string
            )
            #expect(try await Self.ids(ledger) == [one, two])
            let revoked = try await ledger.run(["keys", "revoke", one])
            #expect(revoked.code == 0)
            #expect(revoked.json == .members(["id": .string(one), "revoked": .bool(true)]))
            #expect(try await Self.ids(ledger) == [two])
            let again = try await ledger.run(["keys", "revoke", one])
            #expect(again.code == 4)
            #expect(again.problemCode == "not_found")
        }
    }

    @Test func `works while a server holds the writer's lock`() async throws {
        try await CommandLedger.with { ledger in
            let lock = try WriterLock.take(at: ledger.path)
            defer { lock.release() }
            let id = try #require(try await Self.create(ledger)["id"]?.string)
            #expect(try await Self.ids(ledger) == [id])
            let revoked = try await ledger.run(["keys", "revoke", id])
            #expect(revoked.code == 0, "\(revoked.errors)")
            // The control: what writes to the log does not.
            let claim = try await ledger.run(["claim", "ann", "app_store/1"])
            #expect(claim.code == 75)
        }
    }

    @Test func `loses no key among writers at once`() async throws {
        try await CommandLedger.with { ledger in
            let made = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await Self.create(ledger)["id"]?.string }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(made.count == 8)
            #expect(Set(try await Self.ids(ledger)) == made)
        }
    }

    static let mistakes: [[String]] = [
        [], ["--scope", "root"], ["--scope", ""], ["--scope", "read", "--name", ""],
        ["--scope", "read", "--name", String(repeating: "a", count: 129)],
        ["--scope", "read", "--expires", "-1d"], ["--scope", "read", "--expires", "now"],
        ["--scope", "read", "--expires", "soon"], ["--scope", "read", "--expires", "2200-01-01"],
    ]

    @Test(arguments: mistakes)
    func `refuses what makes no key`(_ arguments: [String]) async throws {
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.run(["keys", "create"] + arguments)
            #expect(outcome.code == 64, "\(outcome.errors)")
            #expect(outcome.output.isEmpty)
            #expect(try await Self.ids(ledger) == [])
        }
    }

    @Test func `leaves a damaged file as it is`() async throws {
        try await CommandLedger.with { ledger in
            let file = ledger.path + "/keys.json"
            try Data("{}".utf8).write(to: URL(filePath: file))
            for command in [["create", "--scope", "read"], ["list"], ["revoke", "a"]] {
                let outcome = try await ledger.run(["keys"] + command)
                #expect(outcome.code == 78, "\(outcome.errors)")
                #expect(outcome.problemCode == "bad_keys")
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "{}")
        }
    }

    @Test func `needs a ledger`() async throws {
        try await withScratchDirectory { folder in
            for command in [["create", "--scope", "read"], ["list"], ["revoke", "a"]] {
                let outcome = try await EntitleCommand.run(
                    ["keys"] + command + ["--json", "--ledger", folder + "/none"]
                )
                #expect(outcome.code == 66, "\(outcome.errors)")
                #expect(outcome.problemCode == "no_ledger")
            }
        }
    }
}
