import Encodings
package import EventLog

/// What the machines of a cluster hold in common of what is told to others, in the table `held` of its schema.
///
/// Over a connection of its own: what it waits for, no lease waits for.
package final class PostgresDeliveries: ClusterDeliveries {
    private let line: PostgresLine
    private let sql: Statements

    /// Seconds for a connection to each host.
    private static let connectSeconds = 2
    /// Milliseconds until a call is given up with its connection.
    private static let milliseconds: Int64 = 10_000

    /// Names the database; nothing is connected yet.
    ///
    /// `text`: libpq's connection string.
    package init(_ text: String, schema: JournalSchema) {
        line = PostgresLine(text, Self.connectSeconds)
        sql = Statements(schema)
    }

    /// See ``ClusterDeliveries``.
    package func deliveryStamp() throws -> [UInt8]? {
        try rows(PostgresConnection.Command(sql.stamp)).first?.bytes(0)
    }

    /// See ``ClusterDeliveries``.
    package func deliveryState() throws -> [UInt8]? {
        try rows(PostgresConnection.Command(sql.state)).first?.bytes(0)
    }

    /// See ``ClusterDeliveries``.
    package func noticePages(from number: UInt64, limit: Int) throws -> [NoticePage] {
        let command = PostgresConnection.Command(
            sql.pages,
            [.bytes(number.bigEndianBytes), .integer(Int64(limit))]
        )
        return try rows(command).map { row in
            let key = try row.bytes(0)
            guard key.count == 8 else {
                throw JournalFault(.damaged, "a page of notices has no number")
            }
            return NoticePage(first: UInt64(bigEndianBytes: key), bytes: try row.bytes(1))
        }
    }

    /// See ``ClusterDeliveries``: one statement, and so one transaction, which waits for the standby and is refused
    /// where none is named.
    package func write(_ change: DeliveriesChange, insteadOf stamp: [UInt8]?) throws -> Bool {
        let command = PostgresConnection.Command(
            stamp == nil ? sql.begin : sql.write,
            [
                .bytes(change.stamp), .bytes(stamp), .bytes(change.state),
                .bytes(change.cutFrom?.bigEndianBytes), .bytes(change.forgetBefore?.bigEndianBytes),
                .byteArrays(change.pages.map(\.first.bigEndianBytes)),
                .byteArrays(change.pages.map(\.bytes)),
            ]
        )
        return try !line.keep(
            command,
            askingBehind: sql.isSynchronous,
            within: Self.milliseconds
        ).isEmpty
    }

    private func rows(_ command: PostgresConnection.Command) throws -> [PostgresRow] {
        try line.rows(of: [command], within: Self.milliseconds)[0]
    }

    private struct Statements: Sendable {
        typealias Text = PostgresConnection.StaticText

        let stamp, state, pages, begin, write, isSynchronous: Text

        init(_ schema: JournalSchema) {
            isSynchronous = schema.isSynchronous
            let held = schema.name + ".held"
            stamp = Text(
                "delivery_stamp",
                "SELECT bytes FROM \(held) WHERE kind = 'deliveries' AND id = ''"
            )
            state = Text(
                "delivery_state",
                "SELECT bytes FROM \(held) WHERE kind = 'delivery state' AND id = ''"
            )
            pages = Text(
                "notice_pages",
                """
                SELECT id, bytes FROM \(held) WHERE kind = 'notices' AND id >= $1
                ORDER BY id LIMIT $2
                """
            )
            // All of it stands or falls with the stamp.
            func changing(_ fence: String) -> String {
                """
                \(schema.waiting), fence AS (\(fence)), state AS (
                  INSERT INTO \(held) SELECT 'delivery state'::text, ''::bytea, $3 FROM fence WHERE $3 IS NOT NULL
                  ON CONFLICT (kind, id) DO UPDATE SET bytes = excluded.bytes
                ), gone AS (
                  DELETE FROM \(held) WHERE kind = 'notices' AND EXISTS (SELECT 1 FROM fence) AND (
                    id >= $4 OR id < (
                      SELECT id FROM \(held) WHERE kind = 'notices' AND id <= $5
                      ORDER BY id DESC LIMIT 1
                    )
                  )
                ), added AS (
                  INSERT INTO \(held) SELECT 'notices'::text, page.id, page.bytes
                  FROM fence, unnest($6, $7) AS page(id, bytes)
                  ON CONFLICT (kind, id) DO UPDATE SET bytes = excluded.bytes
                )
                SELECT 1 FROM fence, waits
                """
            }
            begin = Text(
                "begin_deliveries",
                changing(
                    """
                    INSERT INTO \(held) SELECT 'deliveries'::text, ''::bytea, $1 WHERE $2::bytea IS NULL
                    ON CONFLICT DO NOTHING RETURNING 1
                    """
                )
            )
            write = Text(
                "write_deliveries",
                changing(
                    """
                    UPDATE \(held) SET bytes = $1
                    WHERE kind = 'deliveries' AND id = '' AND bytes = $2 RETURNING 1
                    """
                )
            )
        }
    }
}
