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
        take = Text("take", "SELECT * FROM \(name).take($1,$2,$3,$4,$5)")
    }
}
