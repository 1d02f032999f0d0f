import EventLog
import Foundation
import PostgresStorage
import Synchronization
import Testing

/// A PostgreSQL primary and its synchronous standby for the suite of storages; they end with this
/// process.
///
/// Other ones than the tests of the journal have: those take the standby away.
enum ConformanceServers {
    static let reason: Comment = "no PostgreSQL 15 is installed: tools/setup --tests does it"

    /// Whether there is one at all; a storage that stands on it starts it.
    static let isInstalled: Bool = {
        // A folder that is not there has no PostgreSQL.
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql"))
        return (versions ?? []).contains { Int($0) ?? 0 >= 15 }
    }()

    /// libpq's connection string of the primary.
    static func place() throws -> String {
        "host=\(try #require(folder, "PostgreSQL did not start")) port=5432 user=postgres dbname=postgres"
    }

    private static let folder: String? = {
        let process = ProcessInfo.processInfo.processIdentifier
        let folder = "/tmp/elpg-\(process)-l"
        return start([folder, "start", "--while", "\(process)"]) ? folder : nil
    }()

    private static func start(_ words: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let script = root.appending(path: "tools/cluster.d/pair.py").path(percentEncoded: false)
        process.arguments = ["python3", "-B", script] + words
        process.standardInput = FileHandle.nullDevice
        // One that cannot be run is one that does not start.
        guard Forking.lock.withLock({ _ in (try? process.run()) != nil }) else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private static let count = Atomic(0)

    /// A schema that nobody has.
    static func newSchema() throws -> JournalSchema {
        let number = count.add(1, ordering: .relaxed).newValue
        return try #require(JournalSchema("conformance_\(number)"))
    }
}

/// The journal of a cluster of its own, in which this process leads.
struct LeaderStorage {
    private let journal: PostgresJournal

    /// A commit is waited for as long as a slow machine may need.
    private static let patience: Int64 = 120_000

    /// Makes a cluster with no event.
    init() throws {
        let (place, schema) = (try ConformanceServers.place(), try ConformanceServers.newSchema())
        try JournalMaker(place, schema: schema).finish(
            manifest: "{}",
            end: .empty,
            keys: [],
            generation: 0,
            allowsAsynchronous: false
        )
        var limits = PostgresJournal.Limits()
        limits.connectSeconds = 60
        limits.changeMilliseconds = Self.patience
        limits.readMilliseconds = Self.patience
        journal = PostgresJournal(place, schema: schema, limits: limits)
    }

    /// Leads in the next term over a node's own files.
    func lead(over own: any LogStorage) throws -> LeaderLog {
        var randomness = RandomSource.system
        let outcome = journal.take(
            over: try journal.row().lease,
            as: LeaderID(using: &randomness),
            node: "a",
            address: ""
        )
        guard case .committed(let end, let leadership) = outcome else {
            throw NotLed(outcome: outcome)
        }
        return try LeaderLog(journal, over: own, as: leadership, from: end, randomness: .system)
    }

    private struct NotLed: Error { var outcome: JournalOutcome }

    /// Whoever follows has, event for event, what the leader has.
    func expectFollowed(to log: any LogStorage) throws {
        let copy = MemoryLog()
        let follower = LogFollower(journal, into: copy, vaultPosition: 0)
        // Its leader, which is asked here, was told of each commit.
        follower.note(confirmed: try journal.row().end)
        _ = try follower.catchUp()
        let end = try log.end()
        #expect(copy.end() == end)
        let differing = try (0..<end.size).filter {
            try copy.attached(at: $0) != log.attached(at: $0)
        }
        #expect(differing.isEmpty)
    }
}

/// Storages that are not on every machine.
struct `Conformance of a leader's log` {
    @Test(.enabled(if: ConformanceServers.isInstalled, ConformanceServers.reason))
    func `is shown by the suite of every storage`() throws {
        #expect(StorageBackend.allCases.contains(.leader))
        #expect(StorageBackend.ofLedgers.contains(.leader))
        #expect(throws: Never.self) { try ConformanceServers.place() }
    }
}
