import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import Synchronization
import Testing

/// A ledger that the command is asked about; what it is asked about is put there by functions.
struct CommandLedger {
    /// A directory of the test's own; the ledger is in it.
    let folder: String
    var path: String { folder + "/ledger" }
    /// Its log's name in checkpoints.
    var origin: String {
        get throws {
            let manifest = try Data(contentsOf: URL(filePath: path + "/ledger.json"))
            return try #require(JSONValue(parsing: Array(manifest))["origin"]?.string)
        }
    }

    /// Lends a ledger as `entitle init --catalog` makes it, with the sample catalog; removed when the
    /// body ends.
    static func with<Result>(
        _ body: (CommandLedger) async throws -> Result
    ) async throws -> Result {
        try await withScratchDirectory { folder in
            let ledger = CommandLedger(folder: folder)
            try ledger.make()
            return try await body(ledger)
        }
    }

    private func make() throws {
        let catalog = try Sample.catalog()
        _ = try file("catalog.json", catalog.description)
        try Ledger.create(at: path)
        try open { ledger in
            _ = try ledger.appender.publish(
                catalog,
                effective: nil,
                Request(
                    id: UUID().uuidString,
                    source: Source.catalog,
                    environment: .production
                )
            )
        }
    }

    /// Opens the ledger in this process, as the command would on this machine.
    private func open(_ body: (Ledger) throws -> Void) throws {
        let ledger = try Ledger.open(at: path)
        try body(ledger)
        try Forking.lock.withLock { _ in try ledger.close() }
    }

    /// Records lines of events, each of which must be new.
    func record(_ lines: [String]) throws {
        try open { ledger in
            for receipt in try ledger.appender.record(Sample.submissions(lines)) {
                guard case .appended = receipt else {
                    Issue.record("an event was not recorded: \(receipt)")
                    continue
                }
            }
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
