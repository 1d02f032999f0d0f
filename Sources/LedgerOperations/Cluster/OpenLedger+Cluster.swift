import DurableFiles
package import EventLog
import LMDBStorage

/// A cluster is made of one machine's ledger.
extension OpenLedger {
    /// Makes a cluster of this ledger, whose directory is one of its machines from then on.
    ///
    /// `file`: which machine that is. `begin`: begins in the database, and refuses where there is no room.
    ///
    /// - Returns: events and streams that were loaded.
    /// - Throws: `JournalFault`: the directory is as it was, but for `unavailable`, where nobody knows whether the
    ///   cluster stands; else as `OpenLedgerDirectory.load`.
    package func makeCluster(
        as file: ClusterFile,
        allowsAsynchronous: Bool,
        in begin: () throws -> any ClusterMaker
    ) throws -> (events: UInt64, streams: UInt64) {
        let path = directory.path
        let place = path + "/" + ClusterFile.name
        // A copy of a cluster stays one, whatever comes of it.
        let isNew = !LedgerDirectory.isNode(at: path)
        let prepared = try DurableFile.read(place)
        do {
            return try directory.load(
                into: begin(),
                allowsAsynchronous: allowsAsynchronous,
                // Before anything stands elsewhere, and not where nothing will: a directory that is marked is
                // not written to alone.
                // First how it goes on: one that is stopped from here on is served as it is where the
                // database holds the ledger, and made again with --from where it does not.
                beforeItStands: {
                    try file.write(toLedgerAt: path)
                    try LedgerDirectory.markNode(at: path)
                }
            )
        } catch let fault as JournalFault where isNew && fault.code != .unavailable {
            try LedgerDirectory.unmarkNode(at: path)
            if let prepared {
                try DurableFile.replace(place, with: prepared)
            } else {
                DurableFile.remove(place)
            }
            throw fault
        }
    }
}
