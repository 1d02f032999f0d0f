/// What is asked of a cluster's schema.
struct JournalStatements: Sendable {
    typealias Text = PostgresConnection.StaticText

    let append, rotate, isSynchronous: Text
    let lease: LeaseStatements
    let row, clock, batches, items, begin, commit: Text
    let listen, notify: Text
    let manifest, keys, rewrap, vaultPosition, itemPage, changedItems, vacuum, checkpoints: Text
    let common: CommonStatements

    /// Asks for milliseconds since 1970.
    static let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    init(_ schema: JournalSchema) {
        let name = schema.name
        common = CommonStatements(schema)
        lease = LeaseStatements(schema)
        append = Text(
            "append",
            "SELECT * FROM \(name).append($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)"
        )
        rotate = Self.rotate(name)
        isSynchronous = schema.isSynchronous
        row = Text("row", "SELECT * FROM \(name).row")
        clock = Text("clock", Self.now)
        // As many as fit a page, at least one.
        let chosen = """
            SELECT first, count, root, vault_position, bytes FROM (
              SELECT *, sum(length(bytes)) OVER (ORDER BY first) - length(bytes) AS before
              FROM \(name).batch WHERE first >= $1 AND first < $1 + $2
            ) AS near WHERE before < $3
            """
        batches = Text("batches", chosen + " ORDER BY first")
        items = Text(
            "items",
            """
            SELECT position, stream, bytes FROM \(name).vault_item
            WHERE position >= $4
              AND position < (SELECT max(vault_position) FROM (\(chosen)) AS page)
            ORDER BY position
            """
        )
        begin = Text("begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        commit = Text("commit", "COMMIT")
        listen = Text("listen", "LISTEN \(name)")
        notify = Text(
            "notify",
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify('\(name)', $1)"
        )
        manifest = Text("manifest", "SELECT manifest FROM \(name).ledger")
        keys = Text("keys", "SELECT generation, bytes FROM \(name).vault_keys")
        rewrap = Text(
            "rewrap",
            """
            \(schema.waiting) UPDATE \(name).vault_keys SET bytes = $1 FROM waits WHERE bytes = $2 RETURNING 1
            """
        )
        vaultPosition = Text(
            "vault_position",
            "SELECT vault_position FROM \(name).batch WHERE first < $1 ORDER BY first DESC LIMIT 1"
        )
        itemPage = Text(
            "item_page",
            """
            SELECT position, stream, bytes FROM \(name).vault_item
            WHERE position >= $1 AND position < $2 ORDER BY position LIMIT $3
            """
        )
        changedItems = Text(
            "changed_items",
            """
            SELECT position, stream, bytes FROM \(name).vault_item
            WHERE generation > 0 AND generation > $1 AND position < $2 ORDER BY position
            """
        )
        vacuum = Text("vacuum", "VACUUM \(name).vault_keys, \(name).vault_item")
        checkpoints = Text(
            "checkpoints",
            "SELECT size, note FROM \(name).checkpoint WHERE size >= $1 ORDER BY size"
        )
    }

    /// Whoever wraps the keys by another master key waits for it, or is before it, and then no row comes back.
    private static func rotate(_ name: String) -> Text {
        Text(
            "rotate",
            """
            WITH known AS MATERIALIZED
              (SELECT 0::bigint AS zero FROM \(name).vault_keys WHERE bytes = $11 FOR UPDATE)
            SELECT r.* FROM known,
              LATERAL \(name).rotate($1 + known.zero,$2,$3,$4,$5,$6,$7,$8,$9,$10) r
            """
        )
    }
}

/// What is asked of what machines hold in common beside log and vault.
struct CommonStatements: Sendable {
    typealias Text = PostgresConnection.StaticText

    let keepCheckpoint, held, hold, rehold, nodes, noteNode, holdName, forgetNode: Text

    init(_ schema: JournalSchema) {
        let name = schema.name
        // As the functions do it: no setting of a role lets the commit go before the standby has it.
        let waiting = schema.waiting
        keepCheckpoint = Text(
            "keep_checkpoint",
            """
            \(waiting) INSERT INTO \(name).checkpoint SELECT $1::bigint, $2::text FROM waits
            ON CONFLICT (size) DO UPDATE SET note = excluded.note
            WHERE length(excluded.note) >= length(checkpoint.note)
            """
        )
        held = Text("held", "SELECT bytes FROM \(name).held WHERE kind = $1")
        hold = Text(
            "hold",
            """
            \(schema.waitingBriefly) INSERT INTO \(name).held SELECT $1::text, ''::bytea, $2::bytea FROM waits
            ON CONFLICT DO NOTHING RETURNING 1
            """
        )
        rehold = Text(
            "rehold",
            """
            \(schema.waitingBriefly) UPDATE \(name).held SET bytes = $2 FROM waits
            WHERE kind = $1 AND id = '' AND bytes = $3 RETURNING 1
            """
        )
        nodes = Text(
            "nodes",
            """
            SELECT name, address, size, generation,
              extract(epoch FROM clock_timestamp() - seen)::bigint
            FROM \(name).node ORDER BY name
            """
        )
        // It is said again each second: with a standby away each would keep a connection that waits.
        let quick =
            "WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"
        noteNode = Text(
            "note_node",
            """
            \(quick)
            INSERT INTO \(name).node
              SELECT $1::text, $2::text, $3::bigint, $4::bigint, clock_timestamp() FROM quick
            ON CONFLICT (name) DO UPDATE SET address = $2, size = $3, generation = $4,
              seen = clock_timestamp()
            RETURNING xmax = 0
            """
        )
        holdName = Self.holdName(name)
        forgetNode = Self.forgetNode(name, quick)
    }

    /// Takes a session's lock, which goes with its connection; taken twice it would count.
    private static func holdName(_ name: String) -> Text {
        Text(
            "hold_name",
            """
            SELECT CASE WHEN EXISTS (
                SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
                  AND (classid::bigint << 32 | objid::bigint) = key
              ) THEN true ELSE pg_try_advisory_lock(key) END
            FROM (SELECT hashtextextended('\(name)/' || $1, 0) AS key) AS wanted
            """
        )
    }

    private static func forgetNode(_ name: String, _ quick: String) -> Text {
        Text(
            "forget_node",
            """
            \(quick), gone AS (
              DELETE FROM \(name).node n USING quick
              WHERE n.name = $1 AND n.seen < clock_timestamp() - $2::bigint * interval '1 second'
              RETURNING n.name
            ), copies AS (DELETE FROM \(name).held h USING gone WHERE h.kind = $3)
            SELECT name FROM gone
            """
        )
    }
}
