import EventLog
import Foundation
import Glibc
import PostgresStorage
import Testing

/// Several machines: what could lose is refused before it is used.
extension `A cluster's journal in PostgreSQL` {
    private static var both: String {
        let folder = PostgresServers.folder ?? ""
        return "host=\(folder),\(folder) port=5432,5433 user=postgres dbname=postgres "
            + "target_session_attrs=read-write"
    }

    private func found(_ text: String = both, ahead: Int64 = 0) -> [ClusterFinding.Code] {
        let now = Int64(Date().timeIntervalSince1970 * 1000) + ahead
        return ClusterCheck.findings(of: text, schema: PostgresServers.newSchema(), now: now)
            .map(\.code)
    }

    @Test func `is judged fit where it waits for a standby`() async throws {
        try await eventually("the standby is there again") { found() == [] }
    }

    /// Settings with which it could lose, and what is said of each.
    static let settings: [(String, String, ClusterFinding.Code)] = [
        ("synchronous_standby_names", "", .noStandby),
        ("synchronous_standby_names", "*", .anyStandby),
        ("synchronous_standby_names", "nobody", .standbyAway),
        ("synchronous_commit", "local", .commitWeak),
        ("synchronous_commit", "remote_write", .commitWeak),
        ("synchronous_commit", "off", .commitWeak),
        ("full_page_writes", "off", .pagesTorn),
    ]

    @Test(arguments: settings)
    func `is refused with a setting that could lose`(
        _ name: String,
        _ value: String,
        _ code: ClusterFinding.Code
    ) async throws {
        // What a test changes is made durable by nobody else.
        let own = "SET synchronous_commit = local"
        try PostgresServers.sql("ALTER SYSTEM SET \(name) = '\(value)'", before: own)
        try PostgresServers.sql("SELECT pg_reload_conf()", before: own)
        try await eventually("it is found") { found().contains(code) }
        try PostgresServers.sql("ALTER SYSTEM RESET \(name)", before: own)
        if name == "synchronous_standby_names" {
            try PostgresServers.sql("ALTER SYSTEM SET \(name) = 'b'", before: own)
        }
        try PostgresServers.sql("SELECT pg_reload_conf()", before: own)
        // Control.
        try await eventually("nothing is found any more") { found() == [] }
    }

    @Test func `is refused by what its role may do, and by its clock`() throws {
        #expect(found(ahead: 70_000) == [.clockDiffers])
        #expect(found("host=/nowhere user=postgres dbname=postgres") == [.unreachable])
        let folder = PostgresServers.folder ?? ""
        #expect(found("host=\(folder) port=5433 user=postgres dbname=postgres").contains(.readOnly))
        #expect(found("host=\(folder) user=postgres dbname=postgres") == [.standbyUnseen])
        #expect(found(Self.both + " options='-c statement_timeout=5s'") == [.statementTimeout])
        try PostgresServers.sql("DROP ROLE IF EXISTS nobody_much")
        try PostgresServers.sql("CREATE ROLE nobody_much LOGIN")
        let theirs = Self.both.replacing("user=postgres", with: "user=nobody_much")
        #expect(Set(found(theirs)) == [.standbyHidden, .notPermitted])
    }

    // What is said to be done for a role that may make no schema.
    @Test func `is made in a schema that was given to its role, and holds nothing`() throws {
        let (schema, other) = (PostgresServers.newSchema(), PostgresServers.newSchema())
        let place = PostgresServers.place(user: "given_one")
        func make(
            in schema: JournalSchema,
            insteadOf check: JournalMaker.Check? = nil
        ) throws {
            try JournalMaker(place, schema: schema, insteadOf: check).finishEmpty()
        }
        func refusal(in schema: JournalSchema) -> JournalFault.Code? {
            do { try make(in: schema) } catch { return (error as? JournalFault)?.code }
            return nil
        }
        try PostgresServers.sql("DROP ROLE IF EXISTS given_one")
        try PostgresServers.sql("CREATE ROLE given_one LOGIN")
        #expect(refusal(in: schema) == .notPermitted)
        for schema in [schema, other] {
            try PostgresServers.sql("CREATE SCHEMA \(schema.name) AUTHORIZATION given_one")
        }
        try PostgresServers.sql("CREATE TABLE \(other.name).theirs (one int)")
        #expect(refusal(in: other) == .notEmpty)
        #expect(refusal(in: schema) == nil)
        #expect(refusal(in: schema) == .notEmpty)
        // Another one takes its place, in the schema that stands.
        try make(in: schema) { _, _, _ in }
        #expect(try PostgresJournal(place, schema: schema).row().lease.leadership.term == 1)
        for schema in [schema, other] {
            try PostgresServers.sql("DROP SCHEMA \(schema.name) CASCADE")
        }
        try PostgresServers.sql("DROP ROLE given_one")
    }

    // What an erasure replaced is sealed by keys that the master key opens yet.
    @Test func `says what keeps what was replaced, and refuses nothing for it`() async throws {
        func kept() -> [ClusterFinding] {
            ClusterCheck.findings(
                of: Self.both,
                schema: PostgresServers.newSchema(),
                now: Int64(Date().timeIntervalSince1970 * 1000),
                oldSeconds: 1
            )
        }
        try PostgresServers.sql("SELECT pg_create_physical_replication_slot('nobody_reads', true)")
        let reader = try PostgresConnection(PostgresServers.place(), within: 10)
        for sql in ["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM pg_class"] {
            _ = try reader.exchange([.init(.init("", sql))], within: 10_000)
        }
        let standby = try PostgresConnection(PostgresServers.place(port: 5433), within: 10)
        _ = try standby.exchange([.init(.init("", "SELECT pg_wal_replay_pause()"))], within: 10_000)
        try await eventually("all three are found") {
            let found = kept()
            return found.contains { $0.code == .slotIdle && $0.what.contains("nobody_reads") }
                && found.contains {
                    $0.code == .transactionOld && $0.what.contains("\(reader.process)")
                }
                && found.contains { $0.code == .standbyBehind }
        }
        #expect(kept().allSatisfy { $0.isOfErasure && $0.letsRead && !$0.isOfStandby })
        // The control: without them nothing is.
        for (connection, sql) in [(standby, "SELECT pg_wal_replay_resume()"), (reader, "COMMIT")] {
            _ = try connection.exchange([.init(.init("", sql))], within: 10_000)
        }
        try PostgresServers.sql("SELECT pg_drop_replication_slot('nobody_reads')")
        try await eventually("nothing is found any more") { kept() == [] }
    }

    // A machine that is frozen takes connections and says nothing.
    @Test func `is reached behind a host that is silent`() throws {
        let silent = try SilentPort()
        let folder = PostgresServers.folder ?? ""
        let place =
            "host=127.0.0.1,\(folder) port=\(silent.number),5432 user=postgres dbname=postgres"
        #expect(try PostgresConnection(place, within: 2).serverVersion >= 150_000)
        // The control: alone it is given up.
        #expect(throws: PostgresFault.self) {
            try PostgresConnection("host=127.0.0.1 port=\(silent.number) user=postgres", within: 2)
        }
    }

    @Test(
        arguments: [
            ("host=a password=secret", .password), ("postgres://ledger:secret@a/db", .password),
            ("host=a sslpassword=secret", .password), ("postgres://ledger:50%off@a/db", .malformed),
            ("secret", .malformed), ("host=a dbname=passwords passfile=/etc/passfile", nil),
            ("postgres://ledger@a,b/db", nil),
        ] as [(String, ConnectionText.Fault?)]
    )
    func `takes no password, and repeats none`(_ text: String, _ fault: ConnectionText.Fault?) {
        #expect(ConnectionText.fault(in: text) == fault)
        guard fault == .malformed else { return }
        let found = ClusterCheck.findings(of: text, schema: PostgresServers.newSchema(), now: 0)
        #expect(found.map(\.code) == [.unreachable])
        #expect(found.allSatisfy { !$0.what.contains("50%") && !$0.what.contains("secret") })
    }
}

/// A port that nobody answers at.
private struct SilentPort: ~Copyable {
    private let socket: Int32
    let number: UInt16

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(socket, address, size) == 0 && listen(socket, 8) == 0
                    && getsockname(socket, address, &size) == 0
            }
        }
        try #require(isBound)
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(socket) }
}
