import EventLog

/// Refuses a database that could lose what it acknowledged (Several machines).
package struct ClusterCheck {
    private let text: String
    let schema: JournalSchema
    /// How long something may keep replaced rows, seconds.
    let oldSeconds: Int64
    private var findings: [ClusterFinding] = []

    /// An hour: what reads for longer is no report that soon ends.
    private static let usualOldSeconds: Int64 = 3600
    private static let patience: Int64 = 10_000
    private static let connectSeconds = 5
    private static let leastVersion = 150_000

    /// Looks at a database; changes nothing in it.
    ///
    /// `text`: libpq's connection string; with all hosts, so that the standby is looked at too.
    ///
    /// `now`: milliseconds since 1970. `oldSeconds`: how long something may keep what an erasure replaced.
    ///
    /// - Returns: what was found; nothing where all is well. Cost: two connections.
    package static func findings(
        of text: String,
        schema: JournalSchema,
        now: Int64,
        oldSeconds: Int64 = usualOldSeconds
    ) -> [ClusterFinding] {
        var check = ClusterCheck(text: text, schema: schema, oldSeconds: oldSeconds)
        do {
            try check.look(now: now)
        } catch let fault as PostgresFault {
            check.add(
                .unreachable,
                "PostgreSQL does not answer: \(fault.message)",
                "look at the connection string, at the server and at its pg_hba.conf"
            )
        } catch {
            check.add(
                .notPermitted,
                "PostgreSQL refuses a question: \((error as? PostgresRefusal)?.message ?? "")",
                "give the role its rights"
            )
        }
        return check.findings
    }

    /// What keeps what an erasure replaced, and nothing else.
    ///
    /// `oldSeconds`: as for ``findings(of:schema:now:oldSeconds:)``.
    ///
    /// - Throws: `PostgresFault`, `PostgresRefusal`. Cost: two connections.
    static func keepersOfReplaced(
        in text: String,
        schema: JournalSchema,
        oldSeconds: Int64 = usualOldSeconds
    ) throws -> [ClusterFinding] {
        var check = ClusterCheck(text: text, schema: schema, oldSeconds: oldSeconds)
        let connection = try PostgresConnection(text, within: connectSeconds)
        try check.lookAtOldRows(connection)
        check.lookAtStandbyItself()
        return check.findings.filter(\.isOfErasure)
    }

    private init(text: String, schema: JournalSchema, oldSeconds: Int64) {
        self.text = text
        self.schema = schema
        self.oldSeconds = oldSeconds
    }

    mutating func add(_ code: ClusterFinding.Code, _ what: String, _ remedy: String) {
        findings.append(ClusterFinding(code: code, what: what, remedy: remedy))
    }

    private mutating func look(now: Int64) throws {
        let connection = try PostgresConnection(text, within: Self.connectSeconds)
        guard connection.serverVersion >= Self.leastVersion else {
            return add(
                .tooOld,
                "it is PostgreSQL \(connection.serverVersion / 10_000)",
                "use PostgreSQL 15 or newer"
            )
        }
        try lookAtWay(connection)
        try lookAtClock(connection, now)
        try lookAtCommits(connection)
        try lookAtStandbys(connection)
        try lookAtSchema(connection)
        try lookAtDisk(connection, of: "it")
        try lookAtOldRows(connection)
        lookAtStandbyItself()
    }

    /// What the connection leads over.
    private mutating func lookAtWay(_ connection: PostgresConnection) throws {
        let row = try one(
            connection,
            """
            SELECT pg_backend_pid()::bigint, pg_is_in_recovery(),
              current_setting('default_transaction_read_only') = 'on'
            """
        )
        if try row.integer(0) != connection.process {
            add(
                .pooler,
                "a pooler stands between this machine and PostgreSQL",
                "connect to PostgreSQL itself: a pooler hands commits to other connections"
            )
        }
        if try row.isTrue(1) || row.isTrue(2) {
            add(
                .readOnly,
                "it only reads",
                "name all hosts and target_session_attrs=read-write in the connection string"
            )
        }
    }

    private mutating func lookAtClock(_ connection: PostgresConnection, _ now: Int64) throws {
        let row = try one(connection, JournalStatements.now)
        // Fits: times of two machines since 1970.
        guard abs(try row.integer(0) - now) > JournalLease.clockTolerance else { return }
        add(
            .clockDiffers,
            "its clock differs from this machine's by more than 60 seconds",
            "have both follow a time server: a node whose clock differs does not lead"
        )
    }

    private mutating func lookAtCommits(_ connection: PostgresConnection) throws {
        let row = try one(
            connection,
            """
            SELECT current_setting('synchronous_commit'), current_setting('statement_timeout'),
              current_setting('synchronous_standby_names')
            """
        )
        let (level, timeout) = (try row.text(0), try row.text(1))
        if !["on", "remote_apply"].contains(level) {
            add(
                .commitWeak,
                "synchronous_commit is \(level) for this role",
                "set it to on: the ledger's own commits wait, but what others write does not"
            )
        }
        if timeout != "0" {
            add(
                .statementTimeout,
                "statement_timeout is \(timeout) for this role",
                "ALTER ROLE … SET statement_timeout = 0: a wait that it ends looks like a success"
            )
        }
        let names = try row.text(2)
        if names.allSatisfy(\.isWhitespace) {
            add(
                .noStandby,
                "synchronous_standby_names is empty: what is acknowledged is lost with the machine",
                "name the standby there, and reload; Patroni: synchronous_mode_strict"
            )
        } else if names.contains("*") {
            add(
                .anyStandby,
                "synchronous_standby_names has `*`: whoever connects counts as a second machine",
                "name the standbys there"
            )
        }
    }

    private mutating func lookAtStandbys(_ connection: PostgresConnection) throws {
        guard !findings.contains(where: { $0.code == .noStandby }) else { return }
        let row = try one(
            connection,
            """
            SELECT count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
              count(*) FILTER (WHERE sync_state IS NULL) FROM pg_stat_replication
            """
        )
        if try row.integer(0) > 0 { return }
        if try row.integer(1) > 0 {
            add(
                .standbyHidden,
                "this role may not see which standby is synchronous",
                "GRANT pg_monitor to it"
            )
        } else {
            add(
                .standbyAway,
                "none of the standbys that it names is connected: writes wait",
                "start the standby, or look at its primary_conninfo and application_name"
            )
        }
    }

    private mutating func lookAtSchema(_ connection: PostgresConnection) throws {
        let row = try one(
            connection,
            """
            SELECT to_regclass('\(schema.name).ledger') IS NOT NULL,
              has_database_privilege(current_database(), 'CREATE'),
              to_regnamespace('\(schema.name)') IS NOT NULL
            """
        )
        guard try row.isTrue(0) else {
            if try row.isTrue(2) { return }
            if try !row.isTrue(1) {
                add(
                    .notPermitted,
                    "this role may not make the schema",
                    "GRANT CREATE ON DATABASE … to it, or make the schema and give it to the role"
                )
            }
            return
        }
        let rights = try one(
            connection,
            """
            SELECT has_schema_privilege('\(schema.name)', 'USAGE')
              AND has_table_privilege('\(schema.name).ledger', 'SELECT, UPDATE')
            """
        )
        guard try rights.isTrue(0) else {
            return add(
                .notPermitted,
                "this role may not write to the schema",
                "connect as the role that owns it"
            )
        }
        let formats = try all(connection, "SELECT format FROM \(schema.name).ledger")
        if let format = try formats.first?.integer(0), format > JournalSchema.format {
            add(
                .newerFormat,
                "the cluster's format is \(format), this program knows \(JournalSchema.format)",
                "use the program version that made it, or a newer one"
            )
        } else {
            try lookAtMachines(connection)
        }
    }

    /// `whose`: the machine, as a sentence names it.
    private mutating func lookAtDisk(
        _ connection: PostgresConnection,
        of whose: String
    ) throws {
        let row = try one(
            connection,
            "SELECT current_setting('fsync'), current_setting('full_page_writes')"
        )
        if try row.text(0) != "on" {
            add(
                .fsyncOff,
                "\(whose) does not wait for its disk: fsync is off",
                "set fsync = on there, and start it again"
            )
        }
        if try row.text(1) != "on" {
            add(
                .pagesTorn,
                "\(whose) does not mend pages that are written half: full_page_writes is off",
                "set full_page_writes = on there, and reload"
            )
        }
    }

    /// The standby becomes the primary one day: what it does with its disk counts alike.
    private mutating func lookAtStandbyItself() {
        guard !findings.contains(where: { $0.code == .noStandby }) else { return }
        do {
            let connection = try PostgresConnection(
                text,
                within: Self.connectSeconds,
                others: [("target_session_attrs", "standby")]
            )
            try lookAtDisk(connection, of: "the standby")
            try lookAtReplay(connection)
        } catch {
            add(
                .standbyUnseen,
                "the connection string does not lead to a standby: its disk was not looked at",
                "name all hosts in it: host=a,b port=5432,5432"
            )
        }
    }

    func one(_ connection: PostgresConnection, _ sql: String) throws -> PostgresRow {
        guard let row = try all(connection, sql).first else {
            throw PostgresFault(.unexpected, "a question has no answer")
        }
        return row
    }

    func all(_ connection: PostgresConnection, _ sql: String) throws -> [PostgresRow] {
        let command = PostgresConnection.Command(.init("", sql))
        let replies = try connection.exchange([command], within: Self.patience)
        switch replies.replies[0] {
        case .rows(let rows): return rows
        case .refused(let refusal): throw refusal
        }
    }
}
