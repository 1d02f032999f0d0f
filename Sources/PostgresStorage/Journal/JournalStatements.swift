/// What is asked of a cluster's schema.
struct JournalStatements: Sendable {
    typealias Text = PostgresConnection.StaticText

    let append, renew, take, isSynchronous: Text
    let row, batches, items, begin, commit: Text
    let listen, notify: Text
    let manifest, keys, itemPage, checkpoints: Text

    init(_ schema: JournalSchema) {
        let name = schema.name
        append = Text(
            "append",
            "SELECT * FROM \(name).append($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)"
        )
        renew = Text("renew", "SELECT * FROM \(name).renew($1,$2,$3,$4,$5)")
        take = Text("take", "SELECT * FROM \(name).take($1,$2,$3,$4,$5)")
        isSynchronous = Text(
            "is_synchronous",
            """
            SELECT btrim(current_setting('synchronous_standby_names')) <> ''
              OR allows_asynchronous FROM \(name).ledger
            """
        )
        row = Text("row", "SELECT * FROM \(name).row")
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
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify('\(name)', '')"
        )
        manifest = Text("manifest", "SELECT manifest FROM \(name).ledger")
        keys = Text("keys", "SELECT generation, bytes FROM \(name).vault_keys")
        itemPage = Text(
            "item_page",
            """
            SELECT position, stream, bytes FROM \(name).vault_item
            WHERE position >= $1 AND position < $2 ORDER BY position LIMIT $3
            """
        )
        checkpoints = Text("checkpoints", "SELECT size, note FROM \(name).checkpoint ORDER BY size")
    }
}
