import DurableFiles
import Encodings
package import EventLog
import LMDBStorage

/// The way back to one machine.
extension ClusterNode {
    /// Names who ends the cluster, in the directory that goes on: no other one does.
    private static let leavingName = "leaving"
    /// Times that a lease is ended which another one took meanwhile.
    private static let attempts = 20

    /// Ends a cluster, and makes a ledger that stands alone of one machine's directory, whose server does not run.
    ///
    /// The last term comes before anything changes here, and is this directory's alone; so one ledger goes on, and
    /// what was stopped on the way is done again.
    ///
    /// `path`, `file`, `options`, `tell`: as for ``open(at:as:of:options:tell:)``. `deliveries`: what its machines
    /// tell others by.
    ///
    /// - Returns: how many events it has.
    /// - Throws: as ``open(at:as:of:options:tell:)``; `OperationFault.configuration` where the ledger went on
    ///   elsewhere.
    package static func leave(
        at path: String,
        as file: ClusterFile,
        of journal: any ClusterJournal & ClusterContents,
        tellingIn deliveries: any ClusterDeliveries,
        options: OpenLedger.Options,
        tell: (String) -> Void
    ) throws -> UInt64 {
        let leader = try leavingID(at: path)
        let row = try journal.row()
        try require(row.lease, isEndedBy: leader, at: path)
        if !LedgerDirectory.isNode(at: path), DurableFile.exists(path + "/ledger.json") {
            // It stands alone: what is left is the rest of an earlier call.
            guard row.lease.isLast else {
                throw OperationFault(
                    .configuration,
                    "the directory is no machine's of a cluster",
                    place: path
                )
            }
            try removeMarks(at: path)
            return row.end.size
        }
        // What takes long comes while the others go on.
        if !row.lease.isLast {
            try open(at: path, as: file, of: journal, options: options, tell: tell).open.close()
        }
        let end = try endCluster(journal, as: leader, file.node, at: path)
        let node = try open(at: path, as: file, of: journal, options: options, tell: tell)
        do {
            try node.takeOver(upTo: end)
            // Who is told, and how far, goes on here as with the next machine that leads.
            let webhooks = try Webhooks(ofLedgerAt: path, node.open.ledger, sharedIn: deliveries)
            defer { webhooks.close() }
            try webhooks.share?.follow()
            try node.listCopiesOfOthers()
        } catch {
            node.open.close(after: error)
            throw error
        }
        try node.open.close()
        // Alone it is made again from nothing.
        guard !LedgerDirectory.wasLeftUnclean(at: path) else {
            throw LogStorageFault(.unreadable, "the disk did not take what stands here: try again")
        }
        try removeMarks(at: path)
        return end.size
    }

    /// Reaches the end of all that was ever in the cluster, or throws.
    private func takeOver(upTo end: JournalEnd) throws {
        follower.note(confirmed: end)
        try reach(end.size, generation: end.generation)
        try log.followCheckpoints()
        let own = try open.directory.log.end()
        guard own.size == end.size, own.edge.root == end.root,
            try LedgerDirectory.keyGeneration(at: open.directory.path) == end.generation
        else {
            throw LogStorageFault(.damaged, "this copy does not end where the cluster does")
        }
        try open.directory.vault.takeHomeErasure()
    }

    /// - Returns: where the journals end, durably and for good.
    private static func endCluster(
        _ journal: any ClusterJournal,
        as leader: LeaderID,
        _ node: String,
        at path: String
    ) throws -> JournalEnd {
        var confirmed: JournalEnd?
        for _ in 0..<attempts {
            let lease = try journal.row().lease
            try require(lease, isEndedBy: leader, at: path)
            switch journal.end(lease, as: leader, node: node, confirmed: confirmed) {
            case .committed(let end, _):
                // Told once more, so that who only reads has all of it.
                if confirmed == end { return end }
                confirmed = end
            case .refused(let fault):
                guard fault.code == .deposed else { throw fault }
            case .unknown(let text): throw JournalFault(.unavailable, text)
            }
        }
        throw JournalFault(.unavailable, "others were always before it")
    }

    /// Refuses a cluster that another directory ended.
    private static func require(
        _ lease: JournalLease,
        isEndedBy leader: LeaderID,
        at path: String
    ) throws {
        guard lease.isLast, lease.leadership.leader != leader else { return }
        throw OperationFault(
            .configuration,
            "the cluster has ended: its ledger goes on alone in the directory of \(lease.node)",
            place: path,
            hint: "a copy goes on under a new id: entitle backup, then entitle restore --continue"
        )
    }

    /// Who ends it, the same each time that a directory is asked.
    private static func leavingID(at path: String) throws -> LeaderID {
        let place = path + "/" + leavingName
        if let bytes = try DurableFile.read(place), bytes.count == LeaderID.byteCount {
            return LeaderID(bytes)
        }
        var randomness = RandomSource.system
        let made = LeaderID(using: &randomness)
        try DurableFile.replace(place, with: made.bytes)
        return made
    }

    /// The mark goes first: without it the directory stands alone, whatever is left.
    private static func removeMarks(at path: String) throws {
        try LedgerDirectory.unmarkNode(at: path)
        try DurableFile.syncDirectory(of: path + "/" + leavingName)
        for name in [ClusterFile.name, leavingName] { DurableFile.remove(path + "/" + name) }
    }
}
