package import EventLog

/// Makes a cluster in a database, whole or not at all: one transaction.
package final class JournalMaker: ClusterMaker {
    private let connection: PostgresConnection
    private let schema: JournalSchema
    private var size: UInt64 = 0
    private var root = TreeHash.emptyRoot
    private var vaultPosition: UInt64 = 0
    /// The term in which nobody leads yet.
    private var term: UInt64 = 0

    /// Milliseconds for one exchange with it.
    private static let patience: Int64 = 600_000

    /// Begins: tables and functions.
    ///
    /// `text`: libpq's connection string. `check`: has this cluster take the place of one whose database was
    /// restored to an earlier time, if there is one: refuses, by throwing, one that this ledger does not go on
    /// from, by its `ledger.json`, its row and its machines, which nobody changes any more; nil: there is to be
    /// none.
    ///
    /// What the machines of that one held in common goes with it, but for the note of an erasure, and for what
    /// receipts name: the machines, and what they said of the copies that they made.
    ///
    /// - Throws: ``JournalFault``: `notEmpty` where such a schema holds something; what `check` throws.
    package init(
        _ text: String,
        schema: JournalSchema,
        insteadOf check: Check? = nil
    ) throws {
        self.schema = schema
        do {
            connection = try PostgresConnection(text, within: 5)
        } catch {
            throw JournalFault(.unavailable, error.message)
        }
        try run("BEGIN")
        let kept = try check.flatMap(remove)
        if kept == nil { try makeRoom() }
        for statement in schema.creation { try run(statement) }
        if let kept { try putBack(kept) }
    }

    /// Looks at a cluster that is about to be replaced.
    package typealias Check = (
        _ manifest: String,
        _ row: JournalRow,
        _ members: [ClusterMember]
    ) throws -> Void

    /// What stays of a cluster that another one takes the place of.
    private struct Kept {
        /// Its machines: what is erased can be read on each, until it follows or is forgotten.
        var members: [ClusterMember]
        /// Notes of erasures that it had not finished, and what machines said of the copies that they made.
        var held: [(kind: String, id: [UInt8], bytes: [UInt8])]
    }

    /// Removes the cluster that this one takes the place of, if there is one.
    ///
    /// - Returns: what stays of it; nil: there is none.
    private func remove(_ check: Check) throws -> Kept? {
        let name = schema.name
        let isThere = try rows("SELECT to_regclass('\(name).ledger') IS NOT NULL")
        guard try isThere.first?.isTrue(0) == true else { return nil }
        try run("LOCK TABLE \(name).node, \(name).held, \(name).ledger")
        guard let manifest = try rows("SELECT manifest FROM \(name).ledger").first,
            let row = try rows("SELECT * FROM \(name).row").first
        else { throw PostgresJournal.missing }
        let standing = try JournalRow(row)
        let members = try rows(CommonStatements(schema).nodes.sql).map { try ClusterMember($0) }
        try check(manifest.text(0), standing, members)
        // Fits: a term of a cluster that exists. What one of its leaders sends yet is refused.
        term = standing.lease.leadership.term + 1
        let copies = ClusterMember.copiesName(of: "")
        let held = try rows(
            "SELECT kind, id, bytes FROM \(name).held WHERE kind = 'erasure' OR kind LIKE '\(copies)%'"
        )
        for statement in schema.removal { try run(statement) }
        return Kept(
            members: members,
            held: try held.map { (try $0.text(0), try $0.bytes(1), try $0.bytes(2)) }
        )
    }

    private func putBack(_ kept: Kept) throws {
        for member in kept.members {
            try run(
                """
                INSERT INTO \(schema.name).node
                VALUES ($1, $2, $3, $4, clock_timestamp() - $5::bigint * interval '1 second')
                """,
                [
                    .text(member.name), .text(member.address),
                    .integer(Int64(clamping: member.size)),
                    .integer(Int64(clamping: member.generation)), .integer(member.age),
                ]
            )
        }
        for (kind, id, bytes) in kept.held {
            try run(
                "INSERT INTO \(schema.name).held VALUES ($1, $2, $3)",
                [.text(kind), .bytes(id), .bytes(bytes)]
            )
        }
    }

    /// Makes the schema, where none was made and given to a role that may make none itself.
    private func makeRoom() throws {
        let name = schema.name
        let found = try rows(
            """
            SELECT to_regnamespace('\(name)') IS NOT NULL,
              EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('\(name)'))
            """
        )
        guard try found.first?.isTrue(0) == true else { return try run("CREATE SCHEMA \(name)") }
        guard try found.first?.isTrue(1) == false else {
            throw JournalFault(.notEmpty, "the schema \(name) holds something already")
        }
    }

    /// Adds items of the vault, in their order.
    package func add(items: [NewStream]) throws {
        try run(
            """
            INSERT INTO \(schema.name).vault_item
            SELECT $1 + n - 1, s, b FROM unnest($2, $3) WITH ORDINALITY AS new(s, b, n)
            """,
            [
                .integer(Int64(clamping: vaultPosition)),
                .integers(items.map { Int64(clamping: $0.stream) }),
                .byteArrays(items.map(\.bytes)),
            ]
        )
        // Fits: items that stand in memory.
        vaultPosition += UInt64(items.count)
    }

    /// Adds a batch behind those before it; its new streams are of the vault's items.
    ///
    /// - Precondition: it begins where the last one ended.
    package func add(_ batch: JournalBatch) throws {
        precondition(batch.first == size, "batches follow one another")
        if !batch.newStreams.isEmpty { try add(items: batch.newStreams) }
        try run(
            "INSERT INTO \(schema.name).batch VALUES ($1, $2, $3, $4, $5)",
            [
                .integer(Int64(clamping: batch.first)), .integer(Int64(batch.count)),
                .bytes(batch.root.bytes), .integer(Int64(clamping: vaultPosition)),
                .bytes(batch.bytes),
            ]
        )
        // Fits: sizes of a log that exists.
        size += UInt64(batch.count)
        root = batch.root
    }

    /// Adds a signed checkpoint.
    package func add(checkpoint size: UInt64, note: String) throws {
        try run(
            "INSERT INTO \(schema.name).checkpoint VALUES ($1, $2)",
            [.integer(Int64(clamping: size)), .text(note)]
        )
    }

    /// Writes the one row, and commits.
    ///
    /// `keys`: the vault's keys, wrapped by the master key. `manifest`: the text of `ledger.json`.
    ///
    /// - Throws: ``JournalFault``; `unavailable` also where nobody knows whether the commit stands.
    package func finish(
        manifest: String,
        end: LogEnd,
        keys: [UInt8],
        generation: UInt64,
        allowsAsynchronous: Bool
    ) throws {
        guard size == end.size, root == end.edge.root else {
            throw JournalFault(.damaged, "what was loaded is not the ledger's log")
        }
        try run(
            "INSERT INTO \(schema.name).vault_keys VALUES (true, $1, $2)",
            [.integer(Int64(clamping: generation)), .bytes(keys)]
        )
        try run(
            """
            INSERT INTO \(schema.name).ledger VALUES (true, $1, $2, $3 = 1, $4, $5, $6, $7, $8, $9,
              $8, $4, $5, $11, 0, $10, '', '')
            """,
            [
                .integer(JournalSchema.format), .text(manifest),
                .integer(allowsAsynchronous ? 1 : 0), .integer(Int64(clamping: size)),
                .bytes(root.bytes), .integer(end.lastRecordedAt),
                .integer(Int64(clamping: end.highestCounter)),
                .integer(Int64(clamping: vaultPosition)), .integer(Int64(clamping: generation)),
                .bytes(LeaderID.nobody.bytes), .integer(Int64(clamping: term)),
            ]
        )
        try run("SELECT \(schema.name).require_synchronous()")
        try commit()
    }

    /// A wait for a standby whose name is emptied meanwhile ends without a warning.
    private func commit() throws {
        let statements = JournalStatements(schema)
        let made = try exchange([
            PostgresConnection.Command(statements.commit),
            PostgresConnection.Command(statements.isSynchronous),
        ])
        if case .refused(let refusal) = made.replies[0] { throw JournalFault(refusal) }
        guard made.warnings.isEmpty, case .rows(let names) = made.replies[1],
            (try names.first?.isTrue(0)) == true
        else {
            throw JournalFault(
                .unavailable,
                "nobody knows whether the commit outlives this machine"
            )
        }
    }

    private func run(_ sql: String, _ values: [PostgresValue] = []) throws {
        _ = try rows(sql, values)
    }

    private func rows(_ sql: String, _ values: [PostgresValue] = []) throws -> [PostgresRow] {
        let command = PostgresConnection.Command(.init(sql.statementName, sql), values)
        switch try exchange([command]).replies[0] {
        case .rows(let rows): return rows
        case .refused(let refusal): throw JournalFault(refusal)
        }
    }

    private func exchange(
        _ commands: [PostgresConnection.Command]
    ) throws -> PostgresConnection.Replies {
        do {
            return try connection.exchange(commands, within: Self.patience)
        } catch {
            throw JournalFault(.unavailable, error.message)
        }
    }
}

extension String {
    /// A name of a statement, the same for the same text.
    fileprivate var statementName: String {
        "s"
            + utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
                ($0 ^ UInt64($1)) &* 1_099_511_628_211
            }
            .description
    }
}
