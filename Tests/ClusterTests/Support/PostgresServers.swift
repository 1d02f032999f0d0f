import Dispatch
import EventLog
import Foundation
import PostgresStorage
import Synchronization
import Testing

/// A PostgreSQL primary and its synchronous standby, once for all tests; they end with this process.
enum PostgresServers {
    /// Where they are; nil: they did not start.
    static let folder: String? = {
        let folder = "/tmp/elpg-\(ProcessInfo.processInfo.processIdentifier)"
        let words = [folder, "start", "--while", "\(ProcessInfo.processInfo.processIdentifier)"]
        return run(words) == nil ? nil : folder
    }()

    /// The port of a server of this machine that speaks TLS; nil: there is none.
    ///
    /// `root.crt` in the folder is its root, `other.crt` is nobody's.
    static let securePort: Int? = folder.flatMap { run([$0, "secure"]) }
        .flatMap { Int($0.filter(\.isNumber)) }

    static let reason: Comment = "no PostgreSQL 15 is installed: tools/setup --tests does it"

    /// Whether there is one at all; whether it starts, the suite itself requires.
    static let isInstalled: Bool = {
        // A folder that is not there has no PostgreSQL.
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql"))
        let isThere = (versions ?? []).contains { Int($0) ?? 0 >= 15 }
        // It begins while no test has a ledger open yet, whose locks a child would hold for a moment.
        if isThere { _ = folder }
        return isThere
    }()

    /// libpq's connection string of the primary.
    static func place(port: Int = 5432, user: String = "postgres") -> String {
        "host=\(folder ?? "") port=\(port) user=\(user) dbname=postgres"
    }

    /// Has every process of a server stand still, or go on.
    ///
    /// By signals alone: a child that is about to begin holds, for a moment, the locks of ledgers that
    /// other tests have open.
    static func act(_ action: Action, on server: String) {
        let file = (folder ?? "") + "/\(server)/postmaster.pid"
        guard let text = try? String(contentsOfFile: file, encoding: .utf8),
            let parent = text.split(separator: "\n").first.flatMap({ Int32($0) })
        else {
            Issue.record("server \(server) does not run")
            return
        }
        for process in [parent] + children(of: parent) { kill(process, action.rawValue) }
    }

    /// What a server is told.
    enum Action {
        case freeze, thaw

        var rawValue: Int32 { self == .freeze ? SIGSTOP : SIGCONT }
    }

    private static func children(of parent: Int32) -> [Int32] {
        // A process that ends meanwhile is no child any more.
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap(Int32.init).filter { process in
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = stat?.split(separator: ")").last?.split(separator: " ")
            return fields.flatMap { $0.count > 1 ? Int32($0[1]) : nil } == parent
        }
    }

    /// - Returns: what it printed; nil: it failed.
    private static func run(_ words: [String]) -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let script = root.appending(path: "tools/cluster.d/pair.py").path(percentEncoded: false)
        process.arguments = ["python3", "-B", script] + words
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        guard (try? process.run()) != nil else { return nil }
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: printed, as: UTF8.self) : nil
    }

    /// Runs a statement as the database's owner.
    @discardableResult
    static func sql(
        _ text: String,
        before: String? = nil
    ) throws -> [PostgresRow] {
        let connection = try PostgresConnection(place(), within: 10)
        if let before {
            _ = try connection.exchange(
                [PostgresConnection.Command(.init("", before))],
                within: 60_000
            )
        }
        let replies = try connection.exchange(
            [PostgresConnection.Command(.init("", text))],
            within: 60_000
        )
        switch replies.replies[0] {
        case .rows(let rows): return rows
        case .refused(let refusal): throw refusal
        }
    }

    private static let count = Atomic(0)

    /// A schema that nobody has.
    static func newSchema() -> JournalSchema {
        let number = count.add(1, ordering: .relaxed).newValue
        guard let schema = JournalSchema("test_\(number)") else { fatalError("it is a name") }
        return schema
    }
}

/// A cluster in a schema of its own.
struct ScratchCluster {
    let schema: JournalSchema
    let journal: PostgresJournal
    /// The leader that its tests are.
    private(set) var leadership: Leadership
    private(set) var end: JournalEnd

    /// Makes one with no event, and leads.
    init(allowsAsynchronous: Bool = false, patience: Int64 = 60_000) throws {
        schema = PostgresServers.newSchema()
        let maker = try JournalMaker(PostgresServers.place(), schema: schema)
        try maker.finishEmpty(allowsAsynchronous: allowsAsynchronous)
        var limits = PostgresJournal.Limits()
        limits.changeMilliseconds = patience
        journal = PostgresJournal(PostgresServers.place(), schema: schema, limits: limits)
        (end, leadership) = try journal.take()
    }

    /// What its tests lead by, over a log of their own.
    func leader(over log: any LogStorage) throws -> LeaderLog {
        try LeaderLog(journal, over: log, as: leadership, from: end, randomness: .system)
    }

    /// Another node's view of it, with its own patience.
    func other(patience: Int64, user: String = "postgres") -> PostgresJournal {
        var limits = PostgresJournal.Limits()
        limits.changeMilliseconds = patience
        return PostgresJournal(PostgresServers.place(user: user), schema: schema, limits: limits)
    }
}

extension PostgresJournal {
    /// Takes the lease as it stands.
    func take() throws -> (JournalEnd, Leadership) {
        var randomness = RandomSource.system
        return try take(
            over: row().lease,
            as: LeaderID(using: &randomness),
            node: "a",
            address: "https://a"
        ).committed()
    }
}

extension JournalOutcome {
    struct NotCommitted: Error { var outcome: JournalOutcome }

    func committed() throws -> (JournalEnd, Leadership) {
        guard case .committed(let end, let leadership) = self else {
            throw NotCommitted(outcome: self)
        }
        return (end, leadership)
    }

    var refusal: JournalFault.Code? {
        if case .refused(let fault) = self { fault.code } else { nil }
    }

    var isUnknown: Bool { if case .unknown = self { true } else { false } }
}

/// Runs what blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "test").async { continuation.resume(returning: body()) }
    }
}

/// Waits until something holds, for minutes where the machine is slow.
func eventually(_ what: Comment, _ condition: () throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try !condition() {
        guard ContinuousClock.now < end else {
            Issue.record(what)
            return
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}

extension JournalMaker {
    /// Finishes a cluster with no event.
    func finishEmpty(allowsAsynchronous: Bool = false) throws {
        try finish(
            manifest: "{}",
            end: .empty,
            keys: [1, 2, 3],
            generation: 0,
            allowsAsynchronous: allowsAsynchronous
        )
    }
}
