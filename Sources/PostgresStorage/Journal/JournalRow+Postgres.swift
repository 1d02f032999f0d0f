import EventLog

extension JournalRow {
    /// Reads the view `row`.
    init(_ row: PostgresRow) throws {
        guard try row.integer(13) <= JournalSchema.format else {
            throw JournalFault(.newerFormat, "the cluster's format is \(try row.integer(13))")
        }
        guard let root = try row.digest(1), let confirmedRoot = try row.digest(7)
        else { throw JournalFault(.damaged, "a root of the cluster's row is none") }
        self.init(
            end: JournalEnd(
                size: try row.count(0),
                root: root,
                vaultPosition: try row.count(4),
                generation: try row.count(5)
            ),
            lastRecordedAt: try row.integer(2),
            highestCounter: try row.count(3),
            confirmedSize: try row.count(6),
            confirmedRoot: confirmedRoot,
            lease: JournalLease(
                leadership: Leadership(
                    term: try row.count(8),
                    leader: LeaderID(try row.bytes(10))
                ),
                beat: try row.count(9),
                node: try row.text(11),
                address: try row.text(12)
            )
        )
    }
}

extension ClusterMember {
    /// Reads a row of the machines, as `CommonStatements.nodes` asks for it.
    init(_ row: PostgresRow) throws {
        self.init(
            name: try row.text(0),
            address: try row.text(1),
            size: try row.count(2),
            generation: try row.count(3),
            age: try row.integer(4)
        )
    }
}

extension PostgresRow {
    /// A `bytea` of 32 bytes; nil for other ones.
    func digest(_ column: Int) throws(PostgresFault) -> Digest? {
        let bytes = try bytes(column)
        return Digest(exactly: bytes.span)
    }
}

extension JournalFault {
    /// What a refusal of PostgreSQL means here: the matrix of what is tried again and what is not.
    init(_ refusal: PostgresRefusal) {
        let code: Code =
            switch refusal.state {
            case JournalSchema.Raised.deposed.rawValue: .deposed
            case JournalSchema.Raised.moved.rawValue: .moved
            case JournalSchema.Raised.notSynchronous.rawValue: .notSynchronous
            case JournalSchema.Raised.damaged.rawValue: .damaged
            // No table, no schema, no function.
            case "42P01", "3F000", "42883": .missing
            case "42501", "28000", "28P01": .notPermitted
            case "42P06", "42P07", "23505": .notEmpty
            case "25006": .readOnly
            case "53100": .full
            // Somebody else holds what it needs, for as long as a standby is away maybe.
            case "53300", "55P03", "57P01", "57P02", "57P03": .unavailable
            default: .refused
            }
        self.init(code, refusal.message)
    }
}
