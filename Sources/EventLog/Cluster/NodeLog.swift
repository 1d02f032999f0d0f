import Synchronization

/// The log of one machine of a cluster: everything is read from its own files, and appended by way of the
/// cluster's journal while this node leads.
package final class NodeLog: OwnFilesLog {
    /// See `OwnFilesLog`.
    package let own: any LogStorage
    private let contents: any ClusterContents
    private let leader = Mutex<LeaderLog?>(nil)
    private let appended: @Sendable () -> Void

    /// Follows, until it is told to lead.
    ///
    /// `contents`: where checkpoints stand for every node. `appended`: told behind each commit of this
    /// node; must not block.
    package init(
        over own: any LogStorage,
        keepingIn contents: any ClusterContents,
        appended: @escaping @Sendable () -> Void
    ) {
        self.own = own
        self.contents = contents
        self.appended = appended
    }

    /// Appends by a leader from now on.
    package func lead(by log: LeaderLog) { leader.withLock { $0 = log } }

    /// Appends nothing any more.
    package func follow() { leader.withLock { $0 = nil } }

    /// What it leads by; nil: another node leads, or none.
    package var leading: LeaderLog? { leader.withLock { $0 } }

    private var leads: LeaderLog {
        get throws {
            guard let leading else { throw Self.noLeader }
            return leading
        }
    }

    private static let noLeader = LogStorageFault(.noLeader, "this node does not lead the cluster")

    /// See `LogStorage`: durable on two machines when this returns.
    ///
    /// - Throws: `LogStorageFault.noLeader` where another node leads, or none: nothing stands then.
    package func append(_ batch: LogBatch) throws -> LogEnd {
        let end = try leads.append(batch)
        appended()
        return end
    }

    /// See `LogStorage`.
    package func reopen() throws {
        guard let leading, leading.isLeading else { return try own.reopen() }
        try leading.reopen()
        appended()
    }

    /// See `LogStorage`: for every node.
    package func keepCheckpoint(size: UInt64, note: String) throws {
        _ = try leads
        try contents.keep(checkpoint: size, note: note)
        try own.keepCheckpoint(size: size, note: note)
    }

    /// Takes over checkpoints that another node has signed.
    package func followCheckpoints() throws {
        let last = try own.lastCheckpoint()?.size ?? 0
        let end = try own.end().size
        for checkpoint in try contents.checkpoints()
        where checkpoint.size > last && checkpoint.size <= end {
            try own.keepCheckpoint(size: checkpoint.size, note: checkpoint.note)
        }
    }

    /// See `LogStorage`: a cluster's log is erased from by no node alone.
    package func requireErasable() throws {
        throw LogStorageFault(.notInCluster, "in a cluster nobody is erased yet")
    }
}
