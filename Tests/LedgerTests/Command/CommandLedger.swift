import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import Synchronization
import Testing

/// A ledger that the command is asked about; what it is asked about is put there by functions.
struct CommandLedger {
    /// A directory of the test's own; the ledger is in it.
    let folder: String
    var path: String { folder + "/ledger" }

    private static let masterKey = (0..<32).map { UInt8($0) }

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
        try DurableFile.makeFolder(path)
        try DurableFile.create(
            path + "/" + LedgerDirectory.keyName,
            with: Array((Hexadecimal.encode(Self.masterKey) + "\n").utf8)
        )
        try LedgerDirectory.create(
            at: path,
            masterKey: Self.masterKey,
            origin: "ledger.local/log",
            created: Self.now().description,
            randomness: .system
        )
        try open { ledger in
            _ = try ledger.publish(
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

    @Sendable private static func now() -> Instant {
        Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }

    /// Opens the ledger in this process, as the command would on this machine.
    private func open(_ body: (Ledger) throws -> Void) throws {
        // `entitle init` may have made it, with a key of its own.
        let key = String(
            decoding: try DurableFile.read(path + "/" + LedgerDirectory.keyName) ?? [],
            as: UTF8.self
        )
        let directory = try OpenLedgerDirectory(
            at: path,
            masterKey: Hexadecimal.decode(key.filter { !$0.isWhitespace }) ?? [],
            forWriting: true,
            clock: { Self.now().milliseconds },
            randomness: .system
        )
        defer { Forking.lock.withLock { _ in directory.close() } }
        let bootID = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        let ledger = try Ledger(
            identity: LedgerIdentity(
                id: Hexadecimal.decode(directory.manifest.ledger) ?? [],
                origin: directory.manifest.origin
            ),
            log: directory.log,
            vault: directory.vault,
            options: Ledger.Options(
                viewsPath: path + "/" + LedgerDirectory.viewsName,
                bootID: bootID.filter { !$0.isWhitespace },
                isReadOnly: false,
                clock: Self.now
            )
        )
        try body(ledger)
        try ledger.close()
    }

    /// Records lines of events, each of which must be new.
    func record(_ lines: [String]) throws {
        try open { ledger in
            for receipt in try ledger.record(Sample.submissions(lines)) {
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
