import EntitlementLedger
package import EventLog
import LMDBStorage

/// A cluster goes on from one machine's copy where its database came back as it was earlier.
extension OpenLedger {
    /// Opens a machine's copy, whose server does not run, as it stands: nothing is followed.
    ///
    /// - Throws: as ``init(at:options:)``; `OperationFault.configuration` for what is no copy.
    package init(copyAt path: String, options: Options) throws {
        let bootID = SystemClock.told(options.bootID)
        guard LedgerDirectory.holdsCopy(at: path, bootID: bootID) else {
            throw OperationFault(
                .configuration,
                "no whole copy of a cluster's ledger stands in the directory",
                place: path,
                hint: "take the machine whose copy has most of the others"
            )
        }
        try self.init(at: path, options: options) { $0.log }
    }

    /// Makes sure that a cluster's database is an earlier state of this copy, so that nothing is lost with it.
    ///
    /// `manifest`: the text of its `ledger.json`. `row`: where its journals end.
    ///
    /// - Throws: `OperationFault.configuration`; `LogStorageFault`, `DecodingFault` for damaged tiles.
    package func requireContinuation(of manifest: String, _ row: JournalRow) throws {
        let held = try LedgerDirectory.manifest(reading: Array(manifest.utf8))
        guard held.ledger == directory.manifest.ledger else {
            throw Self.refusal(
                "the database holds another ledger",
                "name the cluster's own database"
            )
        }
        let (end, generation) = (try directory.log.end(), directory.vault.generation)
        guard row.end.size <= end.size, row.end.generation <= generation else {
            throw Self.refusal(
                "the database has \(row.end.size) events, this copy \(end.size): "
                    + "it lacks some of them, or an erasure",
                "take the machine that `entitle cluster check` names"
            )
        }
        guard try TreeReader(directory.log).root(size: row.end.size) == row.end.root else {
            throw Self.refusal(
                "after it was restored, the database recorded something else than this copy has",
                "keep what only it has: entitle export at a machine that follows it; then rename its schema, "
                    + "and run this again"
            )
        }
        guard row.end.size < end.size || row.end.generation < generation else {
            throw Self.refusal(
                "the database has all that this copy has",
                "start the machine: entitle serve --cluster"
            )
        }
    }

    private static func refusal(_ what: String, _ hint: String) -> OperationFault {
        OperationFault(.configuration, what, hint: hint)
    }
}
