import DurableFiles
package import EventLog
import FoundationEssentials

/// A node's directory is made from what a cluster holds.
extension LedgerDirectory {
    /// What a new node has.
    package struct Filled: Sendable, Equatable {
        /// Where its copies end.
        package var end: JournalEnd
        /// How many streams its vault holds, and how many of them are erased.
        package var streams: VaultCounts
    }

    /// Items of the vault that are written at once.
    private static let itemsPerWrite = 1000

    /// Where a node's keys and names stand while its directory is filled.
    private static func partsPath(of path: String) -> String { path + ".filling" }

    /// Removes what a filling left that was ended in the middle: keys, and all names that they open.
    package static func removeUnfinishedFill(at path: String) throws {
        let parts = partsPath(of: path)
        guard DurableFile.exists(parts) else { return }
        try FileManager.default.removeItem(atPath: parts)
    }

    /// Fills an empty directory up to what of the cluster is confirmed now.
    ///
    /// What no leader was told is durable on a second machine is in no copy, as with those that follow: where it
    /// is lost, a copy that had it would know more than the cluster for ever.
    ///
    /// - Throws: `LedgerOpenFault.notEmpty`, `wrongKey`; `LogStorageFault.damaged`, `JournalFault` where what the
    ///   cluster holds contradicts itself, or an erasure came between; what the journal throws. Cost: one pass
    ///   over all; an unfinished one leaves no ledger.
    package static func fill(
        at path: String,
        from journal: some ClusterJournal & ClusterContents,
        masterKey: [UInt8]
    ) throws -> Filled {
        let row = try journal.row()
        let start = JournalEnd(
            size: row.confirmedSize,
            root: row.confirmedRoot,
            vaultPosition: try row.confirmedSize == row.end.size
                ? row.end.vaultPosition : journal.vaultPosition(at: row.confirmedSize),
            generation: row.end.generation
        )
        let keys = try journal.keys()
        let parts = partsPath(of: path)
        try DurableFile.makeFolder(parts)
        // What stays is sealed, and a later attempt writes it anew.
        defer { try? FileManager.default.removeItem(atPath: parts) }
        try DurableFile.replace(parts + "/" + EpochKeys.fileName, with: keys.bytes)
        try writeItems(of: journal, upTo: start.vaultPosition, to: parts)
        let streams = try restore(
            at: path,
            from: Restoration(
                manifest: Array(try journal.manifest().utf8),
                vault: parts,
                published: nil,
                loss: nil
            ),
            masterKey: masterKey
        ) { log in
            try copy(journal, upTo: start, into: log)
            for checkpoint in try journal.checkpoints(from: 0)
            where checkpoint.size <= start.size {
                try log.keepCheckpoint(size: checkpoint.size, note: checkpoint.note)
            }
            guard try journal.row().end.generation == start.generation,
                keys.generation == start.generation
            else { throw LogStorageFault(.busy, "an erasure came between: try again") }
            return []
        }
        return Filled(end: start, streams: streams)
    }

    private static func writeItems(
        of contents: some ClusterContents,
        upTo position: UInt64,
        to parts: String
    ) throws {
        let file = try VaultJournal(path: parts + "/" + VaultJournal.fileName)
        var waiting: [[UInt8]] = []
        try contents.readItems(upTo: position) { item in
            guard VaultItem.find(in: item.bytes.span, at: 0)?.item.stream == item.stream else {
                throw LogStorageFault(.damaged, "an item of the cluster's vault is none")
            }
            waiting.append(item.bytes)
            guard waiting.count == itemsPerWrite else { return }
            try file.append(waiting)
            waiting = []
        }
        try file.append(waiting)
        try file.sync()
    }

    /// Copies batches; their new streams are in the vault already.
    private static func copy(
        _ journal: some ClusterJournal,
        upTo end: JournalEnd,
        into log: LMDBLog
    ) throws {
        var reached = LogEnd.empty
        while reached.size < end.size {
            let page = try journal.page(from: reached.size, vaultAfter: end.vaultPosition)
            guard !page.batches.isEmpty else {
                throw LogStorageFault(.damaged, "batch \(reached.size) is missing")
            }
            for var batch in page.batches where reached.size < end.size {
                batch.newStreams = []
                reached = try log.append(batch.unpacked(after: reached))
            }
        }
        guard reached.size == end.size, reached.edge.root == end.root else {
            throw LogStorageFault(.damaged, "the cluster's batches give another root than its row")
        }
    }
}
