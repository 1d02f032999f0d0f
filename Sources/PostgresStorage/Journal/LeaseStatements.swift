import EventLog

/// What is asked of the row of a cluster by who leads, or would.
struct LeaseStatements: Sendable {
    typealias Text = PostgresConnection.StaticText

    let renew, resign, last, take: Text

    init(_ schema: JournalSchema) {
        let name = schema.name
        renew = Text("renew", "SELECT * FROM \(name).renew($1,$2,$3,$4,$5)")
        // As the functions do it, and as clusters can that were made before there was such a call.
        resign = Text(
            "resign",
            """
            \(schema.waiting)
            UPDATE \(name).ledger l SET leader = $3, node = '', address = '', beat = l.beat + 1,
              confirmed_size = greatest(l.confirmed_size, $4),
              confirmed_root =
                CASE WHEN $4 > l.confirmed_size THEN $5 ELSE l.confirmed_root END
            FROM waits WHERE l.term = $1 AND l.leader = $2 AND l.size >= $4
            \(schema.returned)
            """
        )
        // No call can count further than this beat: what takes, renews or appends is refused by its type.
        last = Text(
            "last",
            """
            \(schema.waiting)
            UPDATE \(name).ledger l SET term = $1, beat = \(JournalLease.lastBeat), leader = $2,
              node = $3, address = '',
              confirmed_size = greatest(l.confirmed_size, $4),
              confirmed_root =
                CASE WHEN $4 > l.confirmed_size THEN $5 ELSE l.confirmed_root END
            FROM waits
            WHERE l.size >= $4 AND ((l.term = $1 - 1 AND l.beat < \(JournalLease.lastBeat))
              OR (l.term = $1 AND l.beat = \(JournalLease.lastBeat) AND l.leader = $2))
            \(schema.returned)
            """
        )
        // What waits for a standby that is away, a renewal say, holds the row's lock: each machine takes again and
        // again meanwhile, and would leave a connection behind each time that waits with it.
        take = Text(
            "take",
            """
            WITH brief AS MATERIALIZED (SELECT length(\(JournalSchema.lockLimit)) * 0 AS zero)
            SELECT t.* FROM brief, LATERAL \(name).take($1 + brief.zero,$2,$3,$4,$5) t
            """
        )
    }
}
