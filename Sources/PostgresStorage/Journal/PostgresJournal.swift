package import EventLog

/// A cluster's journals in PostgreSQL.
///
/// Three connections at most, made when they are needed and made again when they break: one for what
/// is changed, one for what is read, one that listens.
package final class PostgresJournal: ClusterJournal {
    let text: String
    let limits: Limits
    private let changing: PostgresLine
    let reading: PostgresLine
    private let listening: PostgresLine
    let schema: JournalSchema
    let sql: JournalStatements

    /// How long things may take.
    package struct Limits: Sendable {
        /// Seconds for a connection to each host.
        package var connectSeconds = 2
        /// Milliseconds until a change is given up with its connection; its outcome is then unknown.
        package var changeMilliseconds: Int64 = 10_000
        /// Milliseconds until a read is given up.
        package var readMilliseconds: Int64 = 10_000
        /// Events of a page, about.
        package var pageEvents: Int64 = 100_000
        /// Bytes of a page, about: a batch is never cut.
        package var pageBytes: Int64 = 32 << 20

        /// The usual ones.
        package init() {}
    }

    /// Times that a call which met another one is made again.
    private static let attempts = 5

    /// Names the database; nothing is connected yet.
    ///
    /// `text`: libpq's connection string.
    package init(_ text: String, schema: JournalSchema, limits: Limits = Limits()) {
        self.text = text
        self.limits = limits
        self.schema = schema
        sql = JournalStatements(schema)
        changing = PostgresLine(text, limits.connectSeconds)
        reading = PostgresLine(text, limits.connectSeconds)
        listening = PostgresLine(text, limits.connectSeconds, greeting: [sql.listen])
    }

    /// See ``ClusterJournal``.
    package func row() throws -> JournalRow {
        guard let row = try read([PostgresConnection.Command(sql.row)])[0].first else {
            throw Self.missing
        }
        return try JournalRow(row)
    }

    /// See ``ClusterJournal``.
    package func page(from first: UInt64, vaultAfter position: UInt64) throws -> JournalPage {
        let start = PostgresValue.integer(Int64(clamping: first))
        let answers = try read([
            PostgresConnection.Command(sql.begin),
            PostgresConnection.Command(sql.row),
            PostgresConnection.Command(
                sql.batches,
                [start, .integer(limits.pageEvents), .integer(limits.pageBytes)]
            ),
            PostgresConnection.Command(
                sql.items,
                [
                    start, .integer(limits.pageEvents), .integer(limits.pageBytes),
                    .integer(Int64(clamping: position)),
                ]
            ),
            PostgresConnection.Command(sql.commit),
        ])
        guard let row = answers[1].first else { throw Self.missing }
        return JournalPage(
            row: try JournalRow(row),
            batches: try Self.batches(answers[2], answers[3], vaultAfter: position)
        )
    }

    /// Gives each batch the items of the vault that became durable with it.
    private static func batches(
        _ rows: [PostgresRow],
        _ items: [PostgresRow],
        vaultAfter position: UInt64
    ) throws -> [JournalBatch] {
        var batches: [JournalBatch] = []
        var next = items[...]
        var position = position
        for row in rows {
            let end = try row.count(3)
            // What the reader has already is not sent again.
            let added = end - min(end, position)
            guard added <= UInt64(next.count),
                let count = UInt32(exactly: try row.count(1)),
                let root = try row.digest(2)
            else { throw JournalFault(.damaged, "a batch has not the vault's items that it says") }
            // Fits: no more than are there.
            let own = next.prefix(Int(added))
            next = next.dropFirst(own.count)
            position = max(position, end)
            batches.append(
                JournalBatch(
                    first: try row.count(0),
                    count: count,
                    root: root,
                    bytes: try row.bytes(4),
                    newStreams: try own.map {
                        NewStream(stream: try $0.count(1), bytes: try $0.bytes(2))
                    }
                )
            )
        }
        return batches
    }

    /// See ``ClusterJournal``.
    package func clock() throws -> Int64 {
        guard let row = try read([PostgresConnection.Command(sql.clock)])[0].first else {
            throw Self.missing
        }
        return try row.integer(0)
    }

    /// See ``ClusterJournal``.
    package func append(
        _ batch: JournalBatch,
        endingAt end: LogEnd,
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome {
        change(
            sql.append,
            [
                .integer(Int64(clamping: leadership.term)), .bytes(leadership.leader.bytes),
                .integer(Int64(clamping: known.size)), .bytes(known.root.bytes),
                .integer(Int64(clamping: known.vaultPosition)),
                .integer(Int64(clamping: known.generation)),
                .integer(Int64(clamping: batch.first)), .integer(Int64(batch.count)),
                .bytes(batch.root.bytes), .integer(end.lastRecordedAt),
                .integer(Int64(clamping: end.highestCounter)), .bytes(batch.bytes),
                .integers(batch.newStreams.map { Int64(clamping: $0.stream) }),
                .byteArrays(batch.newStreams.map(\.bytes)),
            ]
        )
    }

    /// See ``ClusterJournal``.
    package func rotate(
        _ rotation: VaultRotation,
        insteadOf keys: [UInt8],
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome {
        change(
            sql.rotate,
            [
                .integer(Int64(clamping: leadership.term)), .bytes(leadership.leader.bytes),
                .integer(Int64(clamping: known.size)), .bytes(known.root.bytes),
                .integer(Int64(clamping: known.vaultPosition)),
                .integer(Int64(clamping: known.generation)), .bytes(rotation.keys),
                .integers(rotation.items.map { Int64(clamping: $0.position) }),
                .integers(rotation.items.map { Int64(clamping: $0.entry.stream) }),
                .byteArrays(rotation.items.map(\.entry.bytes)), .bytes(keys),
            ],
            elseRefused: JournalFault(.unavailable, "the vault's keys were wrapped anew meanwhile")
        )
    }

    /// See ``ClusterJournal``.
    package func renew(
        _ leadership: Leadership,
        as leader: LeaderID,
        confirmed: JournalEnd?
    ) -> JournalOutcome {
        change(
            sql.lease.renew,
            [
                .integer(Int64(clamping: leadership.term)), .bytes(leadership.leader.bytes),
                .bytes(leader.bytes), .integer(Int64(clamping: confirmed?.size ?? 0)),
                .bytes((confirmed?.root ?? TreeHash.emptyRoot).bytes),
            ]
        )
    }

    /// See ``ClusterJournal``.
    package func resign(_ leadership: Leadership, confirmed: JournalEnd) -> JournalOutcome {
        change(
            sql.lease.resign,
            [
                .integer(Int64(clamping: leadership.term)), .bytes(leadership.leader.bytes),
                .bytes(LeaderID.nobody.bytes), .integer(Int64(clamping: confirmed.size)),
                .bytes(confirmed.root.bytes),
            ],
            elseRefused: JournalFault(.deposed, "another node leads")
        )
    }

    /// See ``ClusterJournal``.
    package func take(
        over lease: JournalLease,
        as leader: LeaderID,
        node: String,
        address: String
    ) -> JournalOutcome {
        change(
            sql.lease.take,
            [
                .integer(Int64(clamping: lease.leadership.term)),
                .integer(Int64(clamping: lease.beat)),
                .bytes(leader.bytes), .text(node), .text(address),
            ]
        )
    }

    /// See ``ClusterJournal``.
    package func end(
        _ lease: JournalLease,
        as leader: LeaderID,
        node: String,
        confirmed: JournalEnd?
    ) -> JournalOutcome {
        let term = Int64(clamping: lease.leadership.term)
        return change(
            sql.lease.last,
            [
                .integer(lease.isLast ? term : term.addingReportingOverflow(1).partialValue),
                .bytes(leader.bytes), .text(node),
                .integer(Int64(clamping: confirmed?.size ?? 0)),
                .bytes((confirmed?.root ?? TreeHash.emptyRoot).bytes),
            ],
            elseRefused: JournalFault(.deposed, "another node leads, or has ended the cluster")
        )
    }

    /// See ``ClusterJournal``.
    package func awaitChange(milliseconds: Int) throws -> JournalAnnouncement? {
        do {
            return try listening.awaitNotification(within: Int64(milliseconds))
                .flatMap { JournalAnnouncement($0) }
        } catch {
            throw JournalFault(.unavailable, error.message)
        }
    }

    /// See ``ClusterJournal``: in a transaction that waits for nobody.
    package func announce(_ announcement: JournalAnnouncement) throws {
        _ = try read([PostgresConnection.Command(sql.notify, [.text(announcement.text)])])
    }

    // MARK: Outcomes

    /// Calls a function that changes the row, and looks behind the commit whether a synchronous standby
    /// is named yet: who empties the name while a commit waits lets it go without a warning (Several machines).
    ///
    /// `fault`: what it means that no row was changed; nil: a function says so itself.
    private func change(
        _ statement: PostgresConnection.StaticText,
        _ values: [PostgresValue],
        elseRefused fault: JournalFault? = nil
    ) -> JournalOutcome {
        for _ in 0..<Self.attempts {
            let replies: PostgresConnection.Replies
            do {
                replies = try changing.exchange(
                    [
                        PostgresConnection.Command(statement, values),
                        PostgresConnection.Command(sql.isSynchronous),
                    ],
                    within: limits.changeMilliseconds
                )
            } catch {
                return error.code == .unreachable
                    ? .refused(JournalFault(.unavailable, error.message)) : .unknown(error.message)
            }
            if case .refused(let refusal) = replies.replies[0], refusal.mayRepeat { continue }
            return outcome(replies, elseRefused: fault)
        }
        return .refused(JournalFault(.unavailable, "others were always before it"))
    }

    private func outcome(
        _ replies: PostgresConnection.Replies,
        elseRefused fault: JournalFault?
    ) -> JournalOutcome {
        switch replies.replies[0] {
        case .refused(let refusal):
            // A refusal after which the server goes on undid the transaction.
            guard refusal.isUndone else { return .unknown(refusal.message) }
            let fault = JournalFault(refusal)
            if fault.code == .readOnly { changing.drop() }
            return .refused(fault)
        case .rows(let rows):
            if rows.isEmpty, let fault { return .refused(fault) }
            guard replies.warnings.isEmpty else {
                return .unknown("PostgreSQL warned of the commit (\(replies.warnings[0]))")
            }
            guard case .rows(let names) = replies.replies[1], let name = names.first,
                (try? name.isTrue(0)) == true  // Anything else is no: the outcome is unknown.
            else { return .unknown("no synchronous standby is named behind the commit") }
            // A commit without its row is of no function of ours: it is looked up.
            guard let row = rows.first, let read = try? JournalRow(row) else {
                return .unknown("the commit did not say what it wrote")
            }
            return .committed(read.end, read.lease.leadership)
        }
    }

    func read(_ commands: [PostgresConnection.Command]) throws -> [[PostgresRow]] {
        try reading.rows(of: commands, within: limits.readMilliseconds)
    }

    /// Changes something beside the row, see `PostgresLine`.
    func keep(_ command: PostgresConnection.Command) throws -> [PostgresRow] {
        try changing.keep(
            command,
            askingBehind: sql.isSynchronous,
            within: limits.changeMilliseconds
        )
    }

    static let missing = JournalFault(.missing, "there is no cluster in this schema")
}
