import Encodings

/// Writes a log as static files in the form of C2SP tlog-tiles, behind the log, up to a checkpoint.
///
/// Files are written bundle by bundle, in batches that each stand durably before the next; the
/// checkpoint stands last. So a writer that is stopped at any moment goes on from what is there, and
/// what a checkpoint promises is there. Each record is held against the log's tree on its way out:
/// no damage is archived.
package struct ArchiveWriter {
    private let log: any LogReader
    private let store: any ArchiveStore
    private let key: VerifierKey
    private let reader: ArchiveReader
    /// Shared parts that are known to stand.
    private var sharedParts: Set<Digest> = []

    /// Bundles of one batch, which is also how far behind its end an unfinished archive goes on.
    static let bundlesPerBatch: UInt64 = 64
    /// Bytes after which a batch is written, however few bundles it has.
    private static let bytesPerBatch = 8 << 20

    /// Writes a log to a place.
    ///
    /// `key`: verifies the log's checkpoints.
    package init(log: any LogReader, store: any ArchiveStore, key: VerifierKey) {
        self.log = log
        self.store = store
        self.key = key
        reader = ArchiveReader(store)
    }

    /// Continues the archive up to a checkpoint of the log.
    ///
    /// An archive that holds as much or more of the same log is left as it is. Cost: for each new
    /// record a hash and its bytes; memory: one batch.
    ///
    /// `note`: a signed checkpoint of at most the log's size.
    ///
    /// `manifest`: what `ledger.json` says, kept once; nil for none. `loss`: what a salvage of the
    /// ledger lost; what the archive says of an earlier one stays. `published`: a checkpoint that the
    /// log was restored to less than, so that what is made from the archive signs nothing either.
    ///
    /// - Returns: the size of the archive afterwards.
    /// - Throws: `ArchiveFault.forked` where archive and log are not of one history,
    ///   `LogStorageFault.damaged` where a record is not what its tree says; what log and store throw.
    package mutating func write(
        upTo note: SignedNote,
        manifest: [UInt8]? = nil,
        loss: KnownLoss? = nil,
        published: SignedNote? = nil,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> UInt64 {
        let checkpoint = try ArchiveReader.verified(note, by: key)
        try requirePrefix(checkpoint, "the log does not extend the checkpoint")
        let standing = try standingCheckpoint()
        try keep(manifest, isNew: standing == nil)
        try keep(loss)
        try keep(published: published)
        if let standing, standing.size >= checkpoint.size {
            guard try reader.note()?.signatures.count ?? 0 < note.signatures.count,
                standing.size == checkpoint.size
            else { return standing.size }
        }
        let next = try resumption(from: standing?.size ?? 0, to: checkpoint.size)
        var tree = try TileWriter(
            continuing: TreeReader(LogTiles(log)).edge(size: next),
            tiles: LogTiles(log)
        )
        let lacksAttached = (loss?.attached ?? 0) > 0
        try writeBundles(
            &tree,
            upTo: checkpoint.size,
            lacking: lacksAttached ? reader : nil,
            progress
        )
        guard tree.edge.root == checkpoint.root else {
            throw LogStorageFault(.damaged, "the records do not give the root of the checkpoint")
        }
        try finish(tree, note, standing: standing?.size ?? 0)
        return checkpoint.size
    }

    // MARK: What is said of the ledger

    private func keep(_ manifest: [UInt8]?, isNew: Bool) throws {
        guard let manifest else { return }
        guard let other = try reader.manifest() else {
            return try store.write([ArchiveFile(path: ArchiveLayout.manifest, bytes: manifest)])
        }
        // Without a checkpoint nothing else tells whose the place is.
        guard !isNew || Self.areOfOneLedger(other, manifest) else {
            throw ArchiveFault(.forked, "there is the ledger.json of another ledger")
        }
    }

    /// Whether two manifests are of one ledger: its format may have become another since.
    private static func areOfOneLedger(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard let id = ledgerID(one) else { return one == other }
        return id.isSame(as: ledgerID(other))
    }

    /// What a manifest says of which ledger it is; nil: it is none.
    private static func ledgerID(_ manifest: [UInt8]) -> String? {
        (try? JSONValue(parsing: manifest))?["ledger"]?.string
    }

    /// Records that stand in the archive as gaps stay so, whatever became of the ledger since.
    private func keep(_ loss: KnownLoss?) throws {
        let known = try reader.loss()
        guard let joined = loss.map({ known?.joined(with: $0) ?? $0 }), joined != known else {
            return
        }
        try store.write([ArchiveFile(path: ArchiveLayout.loss, bytes: joined.bytes)])
    }

    private func keep(published: SignedNote?) throws {
        guard let published, try reader.published() != published else { return }
        let bytes = Array(published.description.utf8)
        try store.write([ArchiveFile(path: ArchiveLayout.published, bytes: bytes)])
    }

    // MARK: What is there

    /// The archive's checkpoint; nil for a new archive.
    private func standingCheckpoint() throws -> Checkpoint? {
        guard let note = try reader.note() else { return nil }
        let checkpoint = try ArchiveReader.verified(note, by: key)
        if try checkpoint.size > log.end().size {
            throw ArchiveFault(.forked, "the archive holds more than the log")
        }
        try requirePrefix(checkpoint, "the archive holds another history than the log")
        return checkpoint
    }

    private func requirePrefix(_ checkpoint: Checkpoint, _ message: String) throws {
        guard try log.extends(checkpoint) else { throw ArchiveFault(.forked, message) }
    }

    /// The record to go on from, the first of a bundle.
    ///
    /// Beyond the checkpoint files stand in order; the last batch of them may be in doubt, and so are all behind
    /// which the log went on otherwise, such as one that was restored to less.
    private func resumption(from size: UInt64, to target: UInt64) throws -> UInt64 {
        let tiles = LogTiles(log)
        var known = size / Bundle.recordCount
        var unknown = target / Bundle.recordCount
        let first = known
        while known < unknown {
            let middle = known + (unknown - known) / 2
            if try store.exists(ArchiveLayout.entries(middle)),
                try reader.tile(level: 0, index: middle) == tiles.tile(level: 0, index: middle)
            {
                known = middle + 1
            } else {
                unknown = middle
            }
        }
        let certain = known - min(known, Self.bundlesPerBatch)
        return max(first, certain) * Bundle.recordCount
    }

    // MARK: Bundles

    private mutating func writeBundles(
        _ tree: inout TileWriter,
        upTo size: UInt64,
        lacking archive: ArchiveReader?,
        _ progress: (UInt64, UInt64) -> Void
    ) throws {
        while tree.edge.size < size {
            var batch = ArchiveBatch(first: tree.edge.size)
            try batch.read(
                log,
                upTo: size,
                bundles: Self.bundlesPerBatch,
                byteLimit: Self.bytesPerBatch
            )
            for leaf in batch.leaves { tree.append(leaf) }
            var files = try batch.files(log, lacking: archive) { try isNew($0) }
            let full = tree.takeChanges().filter(\.coordinate.isFull)
            files += full.map { ArchiveFile(path: $0.coordinate.path, bytes: $0.bytes) }
            try store.write(files)
            try removePartial(full.map(\.coordinate))
            progress(tree.edge.size, size)
        }
    }

    /// What stood for a file that was not full, now that it is.
    private func removePartial(_ full: [TileCoordinate]) throws {
        for coordinate in full {
            try store.remove(coordinate.path + ArchiveLayout.partial)
            guard coordinate.level == 0 else { continue }
            let index = coordinate.index
            for path in [ArchiveLayout.entries(index), ArchiveLayout.attached(index)] {
                try store.remove(path + ArchiveLayout.partial)
            }
        }
    }

    private mutating func isNew(_ digest: Digest) throws -> Bool {
        guard sharedParts.insert(digest).inserted else { return false }
        return try !store.exists(ArchiveLayout.shared(digest))
    }

    // MARK: The end

    /// Partial tiles and the log's checkpoints, then the checkpoint itself.
    private func finish(_ tree: TileWriter, _ note: SignedNote, standing: UInt64) throws {
        var files = tree.partialTiles.map {
            ArchiveFile(path: $0.coordinate.path, bytes: $0.bytes)
        }
        for kept in try log.checkpoints() where kept.size > standing && kept.size < tree.edge.size {
            let path = ArchiveLayout.checkpoint(size: kept.size)
            files.append(ArchiveFile(path: path, bytes: Array(kept.note.utf8)))
        }
        let bytes = Array(note.description.utf8)
        let path = ArchiveLayout.checkpoint(size: tree.edge.size)
        files.append(ArchiveFile(path: path, bytes: bytes))
        try store.write(files)
        try store.write([ArchiveFile(path: ArchiveLayout.checkpoint, bytes: bytes)])
    }
}
