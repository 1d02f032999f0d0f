import DurableFiles
import Encodings
package import EventLog
import LMDB
import Synchronization

/// Erasure: a stream's key and name go by destroying the epoch key of its shard, under which freed
/// pages, the journal and older copies of the vault hold them too (Storage, "Vault and erasure").
extension LMDBVault {
    /// See `Vault`.
    package func prepare(_ erasure: VaultErasure) throws {
        try turn.withLock { turn in
            guard turn.erasure == nil else {
                throw LogStorageFault(.busy, "another erasure is not finished")
            }
            // With a master key that was changed meanwhile nothing is begun.
            try requireMasterKey(turn.journal)
            try mappingFaults { try names.checkOnce() }
            try drawIn(&turn)
            let note = ErasureNote.bytes(of: erasure)
            if let journal = turn.journal {
                try journal.replaceErasureNote(nil, by: note)
            } else {
                try DurableFile.replace(notePath, with: note)
            }
            turn.erasure = erasure
        }
    }

    /// Learns the master key that the keys are wrapped by now, in a cluster those that all machines have.
    ///
    /// - Throws: `LogStorageFault.unreadable` where its source gives the one of before.
    func requireMasterKey(_ journal: (any ErasureJournal)?) throws {
        if let journal { _ = try keys(of: journal) } else { _ = try openingKeys(keyFile.read) }
    }

    /// The wrapped keys of a cluster, which the master key opens.
    ///
    /// - Throws: as `requireMasterKey`.
    func keys(of journal: any ErasureJournal) throws -> [UInt8] {
        try openingKeys {
            let bytes = try journal.vaultKeys()
            _ = try keyFile.openWithRenewal(bytes)
            return bytes
        }
    }

    private func openingKeys<Keys>(_ body: () throws -> Keys) throws -> Keys {
        do {
            return try body()
        } catch let fault as LedgerOpenFault where fault.code == .wrongKey {
            throw LogStorageFault(
                .unreadable,
                "the master key was changed: let its source give the new one"
            )
        }
    }

    /// See `Vault`.
    package var preparedErasure: VaultErasure? { turn.withLock { $0.erasure } }

    /// See `Vault`.
    package func cancelErasure() throws { try turn.withLock { try forgetErasure(&$0) } }

    private func forgetErasure(_ turn: inout Turn) throws {
        guard let erasure = turn.erasure else { return }
        if let journal = turn.journal {
            try journal.replaceErasureNote(ErasureNote.bytes(of: erasure), by: nil)
        } else {
            DurableFile.remove(notePath)
            try DurableFile.syncDirectory(of: notePath)
        }
        turn.erasure = nil
        turn.areKeysDestroyed = false
    }

    /// See `Vault`.
    package func close(_ streams: some Sequence<UInt64>) {
        state.withLock { state in
            state.closed.formUnion(streams)
            state.numbers = state.numbers.filter { !state.closed.contains($0.value) }
            state.keys = state.keys.filter { !state.closed.contains($0.key) }
            // One whose commit was in doubt may stand. What waits is taken over for all that, so
            // that its number stays taken.
            state.newNumbers = state.newNumbers.filter { !state.closed.contains($0.value) }
        }
    }

    /// See `Vault`.
    package var closedStreams: Set<UInt64> { state.withLock { $0.closed } }

    /// See `Vault`.
    ///
    /// Backups are reached while others append: where they stand may be away, or hang.
    package func finishErasure() throws {
        let noted: VaultErasure? = try turn.withLock { turn in
            try destroyKeys(&turn)
            return turn.erasure
        }
        guard let erasure = noted else { return }
        try reachBackups(of: erasure)
        try turn.withLock { turn in
            // Who has finished it meanwhile may have noted the next one; what stands once the vault is closed is
            // another process's.
            guard turn.erasure == erasure, !state.withLock({ $0.isClosed }) else { return }
            try forgetErasure(&turn)
            if turn.journal == nil { compactJournal() }
        }
    }

    /// Brings backups up to the keys that stand, while nobody else replaces these or puts a copy of the vault
    /// in its place.
    ///
    /// A cluster's machines reach their own when they follow.
    ///
    /// - Throws: `LedgerOpenFault` where the list of backups is none, or another process is at the keys;
    ///   `FileFault`, `CocoaError` where the list cannot be read.
    private func reachBackups(of erasure: VaultErasure) throws {
        let (isClustered, randomness) = turn.withLock { ($0.journal != nil, $0.randomness) }
        guard !isClustered else { return }
        // Nothing is written to the vault's own files.
        var writer = Writer(randomness: randomness)
        try mappingFaults {
            try EpochKeyFile.whileLocked(vaultPath: path) {
                // Read again: another master key may wrap them by now.
                let keys = try keyFile.read().rotated
                try reachBackups(keys, erased: erasure.streams, &writer)
            }
        }
    }

    /// Steps, each of which finds what the one before left.
    ///
    /// (0) New streams drawn in, so that no key of a shard stands elsewhere, and again whenever it is
    /// gone on with; (1) The epoch file with old and new keys; (2) journal and shards under the new keys; (3) the
    /// epoch file without the old. Backups follow later: who appends waits for the ledger's own files alone.
    ///
    /// The erasure stays noted: evidence that goes with it may stand yet.
    func destroyKeys(_ turn: inout Turn) throws {
        guard let erasure = turn.erasure, !turn.areKeysDestroyed else { return }
        try files?.check()
        close(erasure.streams)
        try drawIn(&turn)
        if let journal = turn.journal {
            try finish(erasure, by: journal, using: &turn.randomness)
            turn.areKeysDestroyed = true
            return
        }
        try writer.withLock { writer in
            try mappingFaults {
                try EpochKeyFile.whileLocked(vaultPath: path) { try finish(erasure, &writer) }
            }
        }
        turn.areKeysDestroyed = true
    }

    private func finish(_ erasure: VaultErasure, _ writer: inout Writer) throws {
        var keys = try keyFile.read()
        if keys.replaced.isEmpty, try !areErased(erasure.streams) {
            // Whom a damaged table lacks would lose the only key with the shard's old one.
            try names.checkOnce()
            // While the names are known.
            try clearQuarantine(of: erasure.streams, &writer)
            let shards = Set(erasure.streams.map { StreamNumber.shard(of: $0) })
            keys = keys.rotating(shards, using: &writer.randomness)
            try keyFile.write(keys, using: &writer.randomness)
        }
        if !keys.replaced.isEmpty {
            // Its name may not be on the disk, where whoever wrote it was stopped.
            try keyFile.sync()
            if try names.isRotated(to: keys.generation) {
                // Before it was stopped, or by a commit that seemed to fail.
                use(keys.rotated)
            } else {
                try rotate(to: keys, erasure, &writer)
            }
            try keyFile.write(keys.rotated, using: &writer.randomness)
        }
    }

    private func areErased(_ gone: [UInt64]) throws -> Bool {
        try environment.read { transaction in
            try gone.allSatisfy { stream in
                try transaction.get(streams, Key(stream)) {
                    try VaultEntry.isTombstone($0, of: stream)
                } ?? false
            }
        }
    }

    /// See `Vault`.
    package func isErased(_ stream: UInt64) throws -> Bool {
        if closedStreams.contains(stream) { return true }
        return try mappingFaults {
            // Before the vault: what is not new any more stands there.
            if isReadOnly, let new = try log.newStream(stream),
                try VaultEntry.isTombstone(new.span, of: stream)
            {
                return true
            }
            return try areErased([stream])
        }
    }

    /// Step 2: the shards' entries under their new keys, tombstones for those that go; first in the
    /// journal, then in one commit.
    private func rotate(
        to keys: EpochKeys,
        _ erasure: VaultErasure,
        _ writer: inout Writer
    ) throws {
        let old = epochs
        var randomness = writer.randomness
        let journal = writer.journal
        try names.rotate(to: keys.generation) { transaction in
            let gone = Set(erasure.streams)
            for shard in keys.replaced.keys.sorted() {
                let items = try rotate(
                    shard,
                    from: old,
                    to: keys,
                    without: gone,
                    &randomness,
                    transaction
                )
                try journal?.append(items)
            }
            try identifiers.rotate(keys.replaced.keys, from: old, to: keys, transaction)
            for stream in erasure.streams {
                let tombstone = VaultTombstone.bytes(of: stream)
                try transaction.put(streams, Key(stream), tombstone.span)
            }
            try journal?.append(erasure.streams.map { VaultTombstone.bytes(of: $0) })
            try journal?.sync()
        }
        writer.randomness = randomness
        use(keys.rotated)
    }

    /// Seals what stays of a shard anew and returns it as it is written.
    private func rotate(
        _ shard: Int,
        from old: EpochKeys,
        to new: EpochKeys,
        without gone: Set<UInt64>,
        _ randomness: inout RandomSource,
        _ transaction: borrowing WriteTransaction
    ) throws -> [[UInt8]] {
        let found = try names.streams(of: shard, transaction)
        var items: [[UInt8]] = []
        items.reserveCapacity(found.count)
        for (name, stream) in found {
            _ = try transaction.delete(names.names, name.key)
            guard !gone.contains(stream) else { continue }
            guard
                var entry = try transaction.get(
                    streams,
                    Key(stream),
                    { try VaultEntry(opening: $0, epochKeys: old) }
                ) ?? nil,
                entry.stream == stream,
                VaultNames.Name(entry.digest, shard: shard) == name
            else { throw LogStorageFault(.damaged, "a stream is missing from the vault") }
            entry.digest = new.digest(of: entry.name, shard: shard)
            let value = try entry.sealed(under: new.shards[shard], using: &randomness)
            try transaction.put(streams, Key(stream), value.span)
            try names.put(
                stream,
                of: VaultNames.Name(entry.digest, shard: shard),
                transaction
            )
            items.append(value)
        }
        return items
    }
}

extension EpochKeys {
    /// The digest under which a name is found: keyed by its shard's epoch.
    func digest(of name: StreamName, shard: Int) -> SignalDigest {
        SignalDigest(KeyedHash(shards[shard]).code(for: name.message.span))
    }
}
