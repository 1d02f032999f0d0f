import LMDBStorage
import LedgerOperations
import PostgresStorage

/// The database that a machine's `cluster.json` names.
extension ClusterFile {
    /// The journals of the cluster that a directory is a machine of; nil: of none.
    ///
    /// - Throws: `OperationFault`.
    static func journal(ofNodeAt path: String) throws -> PostgresJournal? {
        guard LedgerDirectory.isNode(at: path) else { return nil }
        let file = try read(ofLedgerAt: path)
        return PostgresJournal(file.postgres, schema: try file.journalSchema(ofLedgerAt: path))
    }

    /// The schema that it names, where it and the connection string are in order.
    ///
    /// - Throws: `OperationFault`.
    func journalSchema(ofLedgerAt path: String) throws -> JournalSchema {
        let place = path + "/" + Self.name
        guard let schema = JournalSchema(schema ?? JournalSchema.usualName) else {
            throw OperationFault(.configuration, "schema is no name of one", place: place)
        }
        guard ConnectionText.fault(in: postgres) == nil else {
            throw OperationFault(
                .configuration,
                "postgres is libpq's connection string, without a password: name a passfile in it",
                place: place
            )
        }
        return schema
    }
}
