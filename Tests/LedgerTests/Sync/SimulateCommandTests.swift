import Encodings
import Foundation
import Testing

/// What the command makes of simulated stores (row Z21).
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `Simulated stores of the command` {
    /// Nobody listens there.
    private static let nowhere = ["--port", "0", "--deliver-to", "http://127.0.0.1:1"]

    private static func trigger(
        _ scenario: String,
        _ folder: String,
        _ more: [String] = []
    ) async throws -> EntitleCommand.Outcome {
        try await EntitleCommand.run(
            ["simulate", "trigger", scenario, "--out", folder, "--json"] + nowhere + more
        )
    }

    @Test func `leave what a backend must trust, with keys that stay`() async throws {
        try await withScratchDirectory { folder in
            let stores = folder + "/stores"
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: stores + "/" + name, encoding: .utf8)
            }
            let told = try await Self.trigger("grace_recovered", stores)
            #expect(told.code == 1, "\(told)")
            let json = try JSONValue(parsing: Array(text("stores.json").utf8))
            #expect(json["appStore"]?["builtInRoots"]?.bool == false)
            for (store, member) in [
                ("appStore", "privateKeyFile"), ("playStore", "serviceAccountFile"),
                ("revenueCat", "apiKeyFile"), ("revenueCat", "authorizationFile"),
            ] {
                let name = try #require(json[store]?[member]?.string)
                #expect(try !text(name).isEmpty, "\(name)")
                let file = try FileManager.default.attributesOfItem(atPath: stores + "/" + name)
                #expect(file[.posixPermissions] as? Int == 0o600)
            }
            let expected = try text("expect.ndjson").split(separator: "\n")
            #expect(expected.count > 3 && expected.allSatisfy { $0.contains(#""tier":"#) })
            let authority = try text("app-store-authority.pem")
            let named = try text("stores.json")
            let again = try await Self.trigger("revenuecat_renewals", stores)
            #expect(again.code == 1)
            // Each listens at a port of its own: what named the stores before names them again.
            #expect(try text("stores.json") == named)
            #expect(try text("app-store-authority.pem") == authority)
        }
    }

    // A backend is started once stores.json is there.
    @Test func `are named when all that they name is there`() async throws {
        try await withScratchDirectory { folder in
            let (files, stores) = (FileManager.default, folder + "/stores")
            let expected = stores + "/expect.ndjson"
            #expect(try await Self.trigger("grace_recovered", stores).code == 1)
            #expect(files.fileExists(atPath: stores + "/stores.json"))
            try files.removeItem(atPath: stores + "/stores.json")
            try files.removeItem(atPath: expected)
            try files.createDirectory(atPath: expected, withIntermediateDirectories: false)
            let stopped = try await Self.trigger("grace_recovered", stores)
            #expect(stopped.code == 73, "\(stopped)")
            #expect(!files.fileExists(atPath: stores + "/stores.json"))
        }
    }

    // Whoever was stopped before all keys were written was refused the folder from then on.
    @Test func `have all their keys, or are made anew`() async throws {
        try await withScratchDirectory { folder in
            let (files, stores) = (FileManager.default, folder + "/stores")
            try files.createDirectory(atPath: stores, withIntermediateDirectories: false)
            let (unfinished, key) = (stores + "/keys.unfinished", stores + "/app-store-key.p8")
            try Data().write(to: URL(filePath: unfinished))
            try Data("half".utf8).write(to: URL(filePath: key))
            #expect(try await Self.trigger("grace_recovered", stores).code == 1)
            #expect(!files.fileExists(atPath: unfinished))
            #expect(try String(contentsOfFile: key, encoding: .utf8).hasPrefix("-----BEGIN"))
        }
    }

    // Stores, rule 10: what nobody takes is sent again, as often as a store does
    @Test func `try again, and give up`() async throws {
        try await withScratchDirectory { folder in
            let told = try await Self.trigger("trial_cancelled", folder + "/stores")
            let attempts = told.lines.filter { $0["attempt"] != nil }
            let sent = told.lines.first?["messages"]?.integer ?? 0
            #expect(sent > 1 && attempts.count == Int(sent) * 6)
            #expect(attempts.allSatisfy { $0["status"] == .null })
        }
    }

    @Test func `are refused what they cannot do`() async throws {
        try await withScratchDirectory { folder in
            let full = folder + "/full"
            try FileManager.default.createDirectory(
                atPath: full,
                withIntermediateDirectories: true
            )
            try Data("theirs".utf8).write(to: URL(filePath: full + "/notes"))
            let taken = try await Self.trigger("grace_recovered", full)
            #expect(taken.code == 73 && taken.problemCode == "not_empty", "\(taken)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: full) == ["notes"])
            let stores = folder + "/stores"
            for (scenario, more) in [
                ("nothing_such", []), ("grace_recovered", ["--rate", "fast"]),
                ("grace_recovered", ["--rate", "0x"]), ("grace_recovered", ["--lose", "101"]),
                ("grace_recovered", ["--deliver-to", "here"]),
            ] {
                let refused = try await Self.trigger(scenario, stores, more)
                #expect(refused.code == 64, "\(scenario) \(more): \(refused)")
            }
            let bare = try await EntitleCommand.run(["simulate", "trigger", "DID_RENEW"])
            #expect(bare.code == 64 && bare.errors.contains("--authority"))
        }
    }

    @Test func `sign what began some time ago`() async throws {
        try await withScratchDirectory { folder in
            let authority = folder + "/authority.pem"
            let made = try await EntitleCommand.run(["simulate", "authority", authority])
            #expect(made.code == 0, "\(made)")
            let words = ["simulate", "trigger", "TRANSACTION", "--authority", authority]
            let signed = try await EntitleCommand.run(words + ["--time", "-36h"])
            #expect(signed.code == 0 && !signed.output.isEmpty, "\(signed)")
        }
    }
}
