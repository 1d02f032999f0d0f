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

    /// Makes sure that a cluster's database is an earlier state of this copy, and that no machine has more, so that
    /// nothing is lost with it.
    ///
    /// `manifest`: the text of its `ledger.json`. `row`: where its journals end. `members`: its machines, as they
    /// said of themselves last.
    ///
    /// - Throws: `OperationFault.configuration`; `LogStorageFault`, `DecodingFault` for damaged tiles.
    package func requireContinuation(
        of manifest: String,
        _ row: JournalRow,
        _ members: [ClusterMember]
    ) throws {
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
        // All that one has was confirmed: who led without it would record something else in its place.
        let most = members.filter { $0.size > end.size || $0.generation > generation }
            .max { ($0.size, $0.generation) < ($1.size, $1.generation) }
        if let most {
            throw Self.refusal(
                "the machine \(most.name) has \(most.size) events, this copy \(end.size): "
                    + "it lacks some of them, or an erasure",
                "run it there, with --from \(most.name); where that machine's copy is gone, first "
                    + "`entitle cluster forget \(most.name) --lose-what-it-has`"
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
