package import EventLog

/// What a node that has nothing yet reads.
extension PostgresJournal: ClusterContents {
    /// Items that are read at once.
    private static let itemsPerPage: Int64 = 10_000

    /// See ``ClusterContents``.
    package func manifest() throws -> String {
        guard let row = try read([PostgresConnection.Command(sql.manifest)])[0].first else {
            throw Self.missing
        }
        return try row.text(0)
    }

    /// See ``ClusterContents``.
    package func keys() throws -> (bytes: [UInt8], generation: UInt64) {
        guard let row = try read([PostgresConnection.Command(sql.keys)])[0].first else {
            throw Self.missing
        }
        return (try row.bytes(1), try row.count(0))
    }

    /// See ``ClusterContents``.
    package func readItems(upTo position: UInt64, _ body: (NewStream) throws -> Void) throws {
        var next: Int64 = 0
        let end = Int64(clamping: position)
        while next < end {
            let rows = try read([
                PostgresConnection.Command(
                    sql.itemPage,
                    [.integer(next), .integer(end), .integer(Self.itemsPerPage)]
                )
            ])[0]
            guard let first = rows.first, try first.integer(0) == next else {
                throw JournalFault(.damaged, "an item of the vault is missing")
            }
            for row in rows {
                guard try row.integer(0) == next else {
                    throw JournalFault(.damaged, "an item of the vault is missing")
                }
                try body(NewStream(stream: try row.count(1), bytes: try row.bytes(2)))
                next += 1
            }
        }
    }

    /// See ``ClusterContents``.
    package func checkpoints() throws -> [(size: UInt64, note: String)] {
        try read([PostgresConnection.Command(sql.checkpoints)])[0].map {
            (try $0.count(0), try $0.text(1))
        }
    }
}
