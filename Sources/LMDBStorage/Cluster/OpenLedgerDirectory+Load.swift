import DurableFiles
package import EventLog
import LMDB

// Fits throughout: sizes of a log that exists.

/// A cluster begins with what a ledger's directory holds, byte for byte.
extension OpenLedgerDirectory {
    /// Items of the vault that go at once.
    private static let itemsPerCall = 1000

    /// Loads log and vault; the directory is open for writing, so that nobody adds to it.
    ///
    /// - Returns: events and streams that were loaded.
    /// - Throws: `LedgerOpenFault` for a ledger that lost something, that signs no more, or that is in
    ///   the middle of an erasure; `LogStorageFault`; what the maker throws. Cost: one pass over all.
    package func load(
        into maker: any ClusterMaker,
        allowsAsynchronous: Bool,
        beforeItStands mark: () throws -> Void = {}
    ) throws -> (events: UInt64, streams: UInt64) {
        // Evidence that is lost is lost in a cluster, too; the tree is whole without it.
        guard knownLoss.map({ $0 == KnownLoss(attached: $0.attached) }) ?? true else {
            throw LedgerOpenFault(.treeLost, "a salvage could not bring all of it back")
        }
        guard try signs() else {
            throw LedgerOpenFault(
                .shortened,
                "it was restored to less than a published checkpoint, and never signs again"
            )
        }
        guard vault.preparedErasure == nil else {
            throw LedgerOpenFault(.recovering, "an erasure is not finished")
        }
        // Keys of before that this copy's disk kept open who was erased: no machine is given them.
        try vault.forgetReplacedKeys()
        // New streams stand in the vault, too, from here on.
        try vault.drawIn()
        let streams = try loadVault(into: maker)
        let end = try log.end()
        try loadLog(up: end, into: maker)
        for checkpoint in try log.checkpoints() {
            try maker.add(checkpoint: checkpoint.size, note: checkpoint.note)
        }
        let place = path + "/" + LedgerDirectory.vaultName + "/" + EpochKeys.fileName
        let keys = try DurableFile.read(place) ?? []
        let manifest = try LedgerDirectory.manifestBytes(at: path)
        try mark()
        try mappingFaults {
            try maker.finish(
                manifest: String(decoding: manifest, as: UTF8.self),
                end: end,
                keys: keys,
                generation: try EpochKeys.generation(of: keys),
                allowsAsynchronous: allowsAsynchronous
            )
        }
        return (end.size, streams)
    }

    /// Whether the log extends what was published before it was restored to less, if it was.
    private func signs() throws -> Bool {
        guard let published else { return true }
        let key = try vault.verifierKey(named: manifest.origin)
        let checkpoint = try Checkpoint(SignedNote.parse(published).verified(by: [key]))
        return try log.extends(checkpoint)
    }

    private func loadVault(into maker: any ClusterMaker) throws -> UInt64 {
        var count: UInt64 = 0
        var items: [NewStream] = []
        try mappingFaults {
            try vault.environment.read { transaction in
                try transaction.scan(vault.streams, from: nil) { key, value in
                    guard key.count == 8 else {
                        throw LogStorageFault(.damaged, "a stream's key is not a number")
                    }
                    let stream = key.loadUInt64BigEndian(at: 0)
                    _ = try VaultEntry.checkedDigest(of: value, stream: stream)
                    items.append(NewStream(stream: stream, bytes: value.copy()))
                    count += 1
                    guard items.count == Self.itemsPerCall else { return true }
                    try maker.add(items: items)
                    items = []
                    return true
                }
            }
        }
        if !items.isEmpty { try maker.add(items: items) }
        return count
    }

    private func loadLog(up end: LogEnd, into maker: any ClusterMaker) throws {
        var reached = LogEnd.empty
        var shared = try log.sharedParts()
        try log.readBlocks(from: 0, upTo: end.size) { first, block in
            guard first == reached.size else {
                throw LogStorageFault(.damaged, "record \(reached.size) is missing")
            }
            var batch = LogBatch(after: reached)
            let count = try Bundle.count(block)
            for index in 0..<count {
                let record = block.extracting(try Bundle.range(of: index, count: count, in: block))
                batch.records.append(record)
                batch.leaves.append(TreeHash.leaf(ofEntry: record))
                let sequence = first + UInt64(index)
                if let attached = try log.attached(at: sequence) {
                    batch.attached.append((sequence, attached))
                }
                batch.lastRecordedAt = try Self.recordedAt(of: record)
            }
            batch.highestCounter = end.highestCounter
            batch.sharedParts = shared
            shared = []
            let isLast = first + UInt64(count) == end.size
            batch.lastOwnRecordedAt = isLast ? end.lastOwnRecordedAt : nil
            try maker.add(JournalBatch(batch, after: reached.edge))
            reached = batch.end(after: reached)
            return true
        }
    }

    /// T3 of a record, or of the one before a gap.
    private static func recordedAt(of entry: Span<UInt8>) throws -> Int64 {
        if let lost = LostRecord(entry) { return lost.recordedAt }
        return try RecordHeader(reading: entry).recordedAt
    }
}
