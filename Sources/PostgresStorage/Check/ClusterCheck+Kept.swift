/// What a cluster's database lacks, and what it keeps too long (Several machines).
extension ClusterCheck {
    /// A database that was restored to an earlier time, or failed over to a machine that lacked some, by what the
    /// machines say of themselves: all that one has was confirmed.
    mutating func lookAtMachines(_ connection: PostgresConnection) throws {
        let rows = try all(
            connection,
            """
            SELECT n.name, n.size, l.size FROM \(schema.name).node n, \(schema.name).ledger l
            WHERE n.size > l.size OR n.generation > l.generation
            ORDER BY n.size DESC, n.generation DESC LIMIT 1
            """
        )
        guard let most = rows.first else { return }
        add(
            .restored,
            "the machine \(try most.text(0)) has \(try most.integer(1)) events and all erasures up to "
                + "then, the database \(try most.integer(2)) events: it lost something that was confirmed",
            "end all machines, and on that one: entitle cluster init --from \(try most.text(0)) …"
        )
    }

    /// What holds up that rows which an erasure replaced go.
    mutating func lookAtOldRows(_ connection: PostgresConnection) throws {
        for row in try all(
            connection,
            "SELECT slot_name::text FROM pg_replication_slots WHERE NOT active ORDER BY 1 LIMIT 10"
        ) {
            add(
                .slotIdle,
                "nobody reads from the replication slot \(try row.text(0)): the database keeps all WAL since",
                "start what reads from it, or SELECT pg_drop_replication_slot('\(try row.text(0))')"
            )
        }
        let old = "interval '\(oldSeconds) seconds'"
        for row in try all(
            connection,
            """
            SELECT 'the connection ' || pid FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
              AND xact_start < clock_timestamp() - \(old)
            UNION ALL
            SELECT 'the prepared transaction ' || gid FROM pg_prepared_xacts
            WHERE prepared < clock_timestamp() - \(old) ORDER BY 1 LIMIT 10
            """
        ) {
            add(
                .transactionOld,
                "\(try row.text(0)) keeps replaced rows since more than \(oldSeconds / 60) minutes",
                "end it: pg_terminate_backend, or ROLLBACK PREPARED"
            )
        }
    }

    /// A standby that does not replay what it received shows what was replaced.
    mutating func lookAtReplay(_ standby: PostgresConnection) throws {
        let row = try one(
            standby,
            """
            SELECT coalesce(pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn() AND
              pg_last_xact_replay_timestamp() < clock_timestamp() - interval '\(oldSeconds) seconds',
              false)
            """
        )
        guard try row.isTrue(0) else { return }
        add(
            .standbyBehind,
            "the standby shows what was replaced more than \(oldSeconds / 60) minutes ago",
            "look there at what it waits for: a pause or a delay that is set, a query"
        )
    }
}
