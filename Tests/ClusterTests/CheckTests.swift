import Foundation
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
}
