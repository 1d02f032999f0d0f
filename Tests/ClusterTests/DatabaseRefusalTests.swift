import EventLog
import Foundation
import PostgresStorage
import Testing

/// Several machines: what a database refuses is said, nothing of it stands, and it goes on where it may.
extension `A cluster's journal in PostgreSQL` {
    private func append(
        _ sample: SampleBatches,
        to cluster: ScratchCluster
    ) -> JournalOutcome {
        cluster.journal.append(
            JournalBatch(sample.batches[0], after: TreeEdge()),
            endingAt: sample.end,
            decidedOn: cluster.end,
            as: cluster.leadership
        )
    }

    @Test func `takes nothing that its disk has no place for`() throws {
        let cluster = try ScratchCluster()
        let name = cluster.schema.name
        // As PostgreSQL says it (errcodes: disk_full), in the middle of what an append writes.
        try PostgresServers.sql(
            """
            CREATE FUNCTION \(name).full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
            END $$
            """
        )
        try PostgresServers.sql(
            """
            CREATE TRIGGER full_disk AFTER INSERT ON \(name).batch
            FOR EACH ROW EXECUTE FUNCTION \(name).full_disk()
            """
        )
        let sample = SampleBatches([2])
        #expect(append(sample, to: cluster).refusal == .full)
        #expect(try cluster.journal.row().end.size == 0)
        #expect(try cluster.journal.page(from: 0, vaultAfter: 0).batches.isEmpty)
        // The control: with place again the same is taken.
        try PostgresServers.sql("DROP TRIGGER full_disk ON \(name).batch")
        #expect(try append(sample, to: cluster).committed().0.size == 2)
    }

    @Test func `is not reached where its certificate does not verify`() throws {
        let port = try #require(PostgresServers.securePort)
        let folder = try #require(PostgresServers.folder)
        func place(_ host: String, root: String) -> String {
            "host=\(host) hostaddr=127.0.0.1 port=\(port) user=postgres dbname=postgres "
                + "sslmode=verify-full sslrootcert=\(folder)/\(root).crt"
        }
        // The control: it is reached, and over TLS.
        let trusted = try PostgresConnection(place("localhost", root: "root"), within: 10)
        let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        let asked = try trusted.exchange([.init(.init("", sql))], within: 10_000)
        guard case .rows(let rows) = asked.replies[0] else { throw Absent() }
        #expect(try rows[0].isTrue(0))
        // Signed by nobody who is trusted; of another host.
        for place in [place("localhost", root: "other"), place("elsewhere", root: "root")] {
            #expect {
                _ = try PostgresConnection(place, within: 10)
            } throws: {
                ($0 as? PostgresFault)?.code == .unreachable
            }
            let journal = PostgresJournal(place, schema: PostgresServers.newSchema())
            #expect {
                _ = try journal.row()
            } throws: {
                ($0 as? JournalFault)?.code == .unavailable
            }
            let findings = ClusterCheck.findings(
                of: place,
                schema: PostgresServers.newSchema(),
                now: Int64(Date().timeIntervalSince1970 * 1000)
            )
            #expect(findings.map(\.code) == [.unreachable])
        }
    }

    private struct Absent: Error {}

    @Test func `is reached again once it takes connections`() throws {
        let cluster = try ScratchCluster()
        let (name, role) = (cluster.schema.name, "few_\(cluster.schema.name)")
        for sql in [
            "CREATE ROLE \(role) LOGIN CONNECTION LIMIT 0",
            "GRANT USAGE ON SCHEMA \(name) TO \(role)",
            "GRANT SELECT ON ALL TABLES IN SCHEMA \(name) TO \(role)",
        ] {
            try PostgresServers.sql(sql)
        }
        let journal = cluster.other(patience: 60_000, user: role)
        #expect {
            try journal.row()
        } throws: { error in
            let fault = error as? JournalFault
            return fault?.code == .unavailable
                && fault?.message.contains("too many connections") == true
        }
        // The control.
        try PostgresServers.sql("ALTER ROLE \(role) CONNECTION LIMIT 5")
        #expect(try journal.row().end.size == 0)
    }

    // A copy that counts as damaged is made again.
    @Test func `takes no copy for damaged where it refuses a question`() async throws {
        try await withMachines { machines in
            await machines[1].end()
            let (name, role) = (machines.schema.name, "unread_\(machines.schema.name)")
            for sql in [
                "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA \(name) TO \(role)",
                "GRANT ALL ON ALL TABLES IN SCHEMA \(name) TO \(role)",
                "REVOKE ALL ON \(name).held FROM \(role)",
            ] {
                try PostgresServers.sql(sql)
            }
            func copy() throws -> UInt64? {
                try FileManager.default.attributesOfItem(
                    atPath: machines.path("b") + "/ledger.json"
                )[.systemFileNumber] as? UInt64
            }
            let before = try copy()
            #expect { try machines.open("b", as: role) } throws: {
                ($0 as? JournalFault)?.code == .notPermitted
            }
            #expect(try copy() == before)
            // The control.
            try PostgresServers.sql("GRANT ALL ON \(name).held TO \(role)")
            _ = try machines.open("b", as: role)
            #expect(try copy() == before)
        }
    }

    @Test func `is not read by a program that is older`() throws {
        let cluster = try ScratchCluster()
        func format(_ number: Int64) throws {
            try PostgresServers.sql("UPDATE \(cluster.schema.name).ledger SET format = \(number)")
        }
        func found() -> [ClusterFinding.Code] {
            ClusterCheck.findings(
                of: PostgresServers.place(),
                schema: cluster.schema,
                now: Int64(Date().timeIntervalSince1970 * 1000)
            ).map(\.code)
        }
        try format(JournalSchema.format + 1)
        #expect(found().contains(.newerFormat))
        #expect { try cluster.journal.row() } throws: {
            ($0 as? JournalFault)?.code == .newerFormat
        }
        // The control.
        try format(JournalSchema.format)
        #expect(!found().contains(.newerFormat))
        #expect(try cluster.journal.row().end.size == 0)
    }
}
