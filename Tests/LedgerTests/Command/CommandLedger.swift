import EntitlementLedger
import Entitlements
import Foundation
import Testing

/// A ledger that only the command touches.
struct CommandLedger {
    /// A directory of the test's own; the ledger is in it.
    let folder: String
    var path: String { folder + "/ledger" }

    /// Lends a ledger made by `entitle init` with the sample catalog, removed when the body ends.
    static func with<Result>(
        _ body: (CommandLedger) async throws -> Result
    ) async throws -> Result {
        try await withScratchDirectory { folder in
            let ledger = CommandLedger(folder: folder)
            let catalog = try ledger.file("catalog.json", Sample.catalog().description)
            let made = try await ledger.run(["init", "--catalog", catalog])
            #expect(made.code == 0, "\(made.errors)")
            return try await body(ledger)
        }
    }

    /// Writes a file and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        let path = folder + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Runs a subcommand on this ledger with `--json`.
    func run(
        _ arguments: [String],
        input: String = "",
        environment: [String: String] = [:]
    ) async throws -> EntitleCommand.Outcome {
        try await run(arguments, bytes: Array(input.utf8), environment: environment)
    }

    func run(
        _ arguments: [String],
        bytes: [UInt8],
        environment: [String: String] = [:]
    ) async throws -> EntitleCommand.Outcome {
        try await EntitleCommand.run(
            arguments + ["--ledger", path, "--json"],
            input: bytes,
            environment: environment
        )
    }

    /// Imports lines from standard input.
    func importing(_ lines: [String], _ more: [String] = []) async throws -> EntitleCommand.Outcome
    {
        try await run(["import", "-"] + more, input: lines.map { $0 + "\n" }.joined())
    }

    func show(_ customer: String, _ more: [String] = []) async throws -> JSONValue {
        let outcome = try await run(["show", customer] + more)
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try #require(outcome.json)
    }
}

extension JSONValue {
    /// The numbers of an `import` report.
    var counts: [String: Int64] {
        ["appended", "duplicate", "refused"].reduce(into: [:]) { $0[$1] = self[$1]?.integer }
    }
}
