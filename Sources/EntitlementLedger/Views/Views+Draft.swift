import EventLog
import PostingIndex
import Synchronization

extension Views {
    /// What covers a log up to a size, as it stood at a moment.
    struct Snapshot {
        fileprivate let overlay: Overlay
        fileprivate let tables: IndexTables?
    }

    /// What covers the log now: never more than the log has.
    var snapshot: Snapshot {
        state.withLock { Snapshot(overlay: $0.overlay.shared(), tables: $0.tables) }
    }

    /// The views of a log that goes on in memory from another's end: what those of the other cover is
    /// not read again.
    ///
    /// `snapshot`: taken before the log that goes on was made.
    convenience init(
        goingOnFrom snapshot: Snapshot,
        identity: LedgerIdentity,
        log: any LogReader
    ) throws {
        // Without a path and a secret nothing is looked for on the disk.
        try self.init(
            path: nil,
            identity: identity,
            log: log,
            secret: nil,
            isReadOnly: true,
            bootID: ""
        )
        state.withLock { state in
            state.overlay = snapshot.overlay
            state.tables = snapshot.tables
        }
        try catchUp()
        moves.begin(at: end)
    }
}
