import GRDB

/// The events in SQLite: a row each, and two indexes besides the sequence.
struct EventTable {
    let pool: DatabasePool

    private static let insertion = """
        INSERT INTO event (stream, kind, time, ends, other, digest, body) VALUES (?,?,?,?,?,?,?)
        """

    /// Makes the table, with a write-ahead log.
    ///
    /// A commit returns when the disk has it (synchronous=FULL).
    init(in directory: String) throws {
        pool = try DatabasePool(path: directory + "/events.sqlite")
        try pool.writeWithoutTransaction { database in
            // The pool's own choice is NORMAL, under which a power cut takes the last commits.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // 256 MiB: all pages stay in memory.
            try database.execute(sql: "PRAGMA cache_size = -262144")
            // 64 MiB of log between two checkpoints, sixteen times the usual.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 16384")
        }
        try pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE event (
                        sequence INTEGER PRIMARY KEY, stream INTEGER NOT NULL,
                        kind INTEGER NOT NULL, time INTEGER NOT NULL, ends INTEGER, other INTEGER,
                        digest BLOB NOT NULL, body BLOB NOT NULL);
                    CREATE INDEX by_stream ON event (stream, sequence);
                    CREATE UNIQUE INDEX by_digest ON event (digest);
                    """
            )
            guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2,
                try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
            else { throw PeerFault("SQLite does not wait for the disk") }
        }
    }

    /// Inserts events; the caller's transaction.
    static func insert(_ events: ArraySlice<RecordColumns>, _ database: Database) throws {
        let statement = try database.cachedStatement(sql: insertion)
        for event in events {
            try statement.execute(
                arguments: [
                    event.stream, event.kind, event.time, event.ends, event.other, event.digest,
                    event.body,
                ]
            )
        }
    }

    /// How many events there are.
    func count() throws -> Int {
        try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM event") ?? 0 }
    }

    /// SQLite's version.
    func version() throws -> String {
        try pool.read { try String.fetchOne($0, sql: "SELECT sqlite_version()") ?? "" }
    }
}
