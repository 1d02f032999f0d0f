import DurableFiles
package import EventLog
import Glibc
import LMDB
import Synchronization

/// Erasure in a cluster: new keys and what is sealed under them stand in the cluster's journal first, and
/// each machine's own files follow.
extension LMDBVault {
    /// Streams that are sealed anew in one transaction of the journal, about.
    private static let streamsPerRotation = 50_000

    /// The generation of the keys that the vault is sealed under.
    package var generation: UInt64 { epochs.generation }

    /// The generation up to which this machine has followed erasures whole: the one before, while keys that were
    /// replaced stand in its files yet.
    package var followedGeneration: UInt64 {
        let keys = epochs
        return keys.replaced.isEmpty ? keys.generation : keys.generation &- 1
    }

    /// Erases by way of a cluster's journal from now on.
    package func erase(by journal: any ErasureJournal) {
        turn.withLock { $0.journal = journal }
    }

    /// See `ErasableVault`: the cluster's note counts.
    package func takeUpErasure() throws {
        try turn.withLock { turn in
            guard let journal = turn.journal else { return }
            turn.erasure = try journal.erasureNote().map { try ErasureNote.erasure(of: $0) }
            // It may be another one than this machine knew, whose keys are destroyed.
            turn.areKeysDestroyed = false
        }
    }

    /// The erasure that the cluster has noted and not finished; nil: none, or the vault is one machine's.
    package func notedErasure() throws -> VaultErasure? {
        guard let note = try turn.withLock(\.journal)?.erasureNote() else { return nil }
        return try ErasureNote.erasure(of: note)
    }

    /// Notes beside the vault what the cluster has noted: who opens it alone finishes it.
    ///
    /// Only for who leaves the cluster for good.
    package func takeHomeErasure() throws {
        try turn.withLock { turn in
            guard let note = try turn.journal?.erasureNote() else { return }
            try DurableFile.replace(notePath, with: note)
        }
    }

    // MARK: Leading

    /// Some shards after the others, so that no transaction grows with the erasure.
    ///
    /// Only for who holds the turn, with all new streams drawn in.
    func finish(
        _ erasure: VaultErasure,
        by journal: any ErasureJournal,
        using randomness: inout RandomSource
    ) throws {
        // The master key may have been changed since: the next ones are wrapped by the same, and replace none
        // that another one wraps by then.
        var known = try keys(of: journal)
        // Whom a damaged table lacks would lose the only key with the shard's old one.
        try mappingFaults { try names.checkOnce() }
        while let (rotation, position) = try mappingFaults({
            try rotation(of: erasure, using: &randomness)
        }) {
            try journal.rotate(rotation, of: position, insteadOf: known) { try follow(rotation) }
            known = rotation.keys
        }
        // Those of a step whose last write failed, before this machine led again.
        try destroyReplacedKeys()
    }

    /// The next step of an erasure, and how many streams the vault has; nil: everything is done.
    private func rotation(
        of erasure: VaultErasure,
        using randomness: inout RandomSource
    ) throws -> (rotation: VaultRotation, position: UInt64)? {
        let old = epochs
        return try environment.read { transaction in
            let left = try erasure.streams.filter { stream in
                try
                    !(transaction.get(streams, Key(stream)) {
                        try VaultEntry.isTombstone($0, of: stream)
                    } ?? true)
            }
            let count = try transaction.count(streams)
            let perShard = count / StreamNumber.shardCount + 1
            let shards = Set(
                Set(left.map(StreamNumber.shard)).sorted()
                    .prefix(max(1, Self.streamsPerRotation / perShard))
            )
            guard !shards.isEmpty else { return nil }
            let new = old.rotating(shards, using: &randomness)
            var items: [VaultRotation.Item] = []
            var position: UInt64 = 0
            try transaction.scan(streams, from: nil) { key, value in
                // Fits: places of streams that stand in a table.
                defer { position += 1 }
                guard key.count == 8 else {
                    throw LogStorageFault(.damaged, "a stream's key is not a number")
                }
                let stream = key.loadUInt64BigEndian(at: 0)
                guard shards.contains(StreamNumber.shard(of: stream)),
                    let entry = try Self.resealed(
                        value,
                        of: stream,
                        from: old,
                        to: new,
                        isGone: left.contains(sorted: stream),
                        &randomness
                    )
                else { return true }
                items.append(.init(position: position, entry: entry))
                return true
            }
            let keys = try new.rotated.wrapped(by: keyFile.key, using: &randomness)
            return (VaultRotation(generation: new.generation, keys: keys, items: items), position)
        }
    }

    /// A stream as it stands under new keys; nil for one that was erased before.
    private static func resealed(
        _ value: Span<UInt8>,
        of stream: UInt64,
        from old: EpochKeys,
        to new: EpochKeys,
        isGone: Bool,
        _ randomness: inout RandomSource
    ) throws -> NewStream? {
        if try VaultEntry.isTombstone(value, of: stream) { return nil }
        guard var entry = try VaultEntry(opening: value, epochKeys: old), entry.stream == stream
        else { throw LogStorageFault(.damaged, "a stream of the vault does not open") }
        if isGone { return NewStream(stream: stream, bytes: VaultTombstone.bytes(of: stream)) }
        let shard = StreamNumber.shard(of: stream)
        entry.digest = new.digest(of: entry.name, shard: shard)
        let bytes = try entry.sealed(under: new.shards[shard], using: &randomness)
        return NewStream(stream: stream, bytes: bytes)
    }

    /// How often it is asked, a moment apart, whether other machines have followed.
    private static let attempts = 40
    private static let microsecondsBetweenAttempts: UInt32 = 50_000
    /// Seconds after which a machine that said nothing is not waited for.
    private static let memberPatience: Int64 = 5

    /// Machines that did not say yet that they have the keys of a generation, after a moment's wait for those that
    /// are there; none for a vault that is one machine's.
    func machines(before generation: UInt64) throws -> [String] {
        guard let journal = turn.withLock(\.journal) else { return [] }
        var behind: [ClusterMember] = []
        for attempt in 0..<Self.attempts {
            if attempt > 0 { usleep(Self.microsecondsBetweenAttempts) }
            behind = try journal.otherMembers().filter { $0.generation < generation }
            guard behind.contains(where: { $0.age < Self.memberPatience }) else { break }
        }
        return behind.map(\.name)
    }

    /// The copies that other machines made, in the order of their names, each named by its machine; none for a vault
    /// that is one machine's.
    package func copiesOfOthers() throws -> [MachineCopies] {
        let seal = copiesSeal
        return try (turn.withLock(\.journal)?.copiesOfOthers() ?? []).map { machine, sealed in
            // What opens no more is named as such.
            let copies = try? MachineCopies(opening: sealed, by: seal, of: machine)
            return (copies ?? .unread).named(by: machine)
        }
    }

    /// Seals what a machine says of the copies that it made.
    package var copiesSeal: LedgerSeal { MachineCopies.seal(by: checkpointKey) }

    /// What of the cluster's database keeps what was replaced; nothing for a vault that is one machine's.
    func keepersOfReplaced() throws -> [String] {
        try turn.withLock(\.journal)?.keepersOfReplaced() ?? []
    }

    // MARK: Following

    /// Takes over what an erasure changed, all of it since the generation of this vault.
    ///
    /// Goes on where it was stopped.
    ///
    /// - Throws: `LogStorageFault.damaged` where a stream of a shard is missing in it: nothing is changed;
    ///   `LedgerOpenFault.wrongKey` where another master key opens the keys by now.
    package func takeOver(_ rotation: VaultRotation) throws {
        try turn.withLock { turn in
            try drawIn(&turn)
            try follow(rotation)
        }
    }

    /// Only for who holds the turn, with all new streams drawn in.
    private func follow(_ rotation: VaultRotation) throws {
        let new = try keyFile.openWithRenewal(rotation.keys)
        let old = epochs
        guard new.generation == rotation.generation, new.generation > old.generation,
            new.checkpointKey == old.checkpointKey
        else { throw LogStorageFault(.damaged, "the cluster's keys are not this vault's") }
        let gone = try rotation.items.compactMap { item in
            try VaultEntry.isTombstone(item.entry.bytes.span, of: item.entry.stream)
                ? item.entry.stream : nil
        }
        close(gone)
        try files?.check()
        try writer.withLock { writer in
            try mappingFaults {
                try EpochKeyFile.whileLocked(vaultPath: path) {
                    // While the names are known.
                    try clearQuarantine(of: gone, &writer)
                    // Whoever reads beside this process finds both.
                    let both = new.beside(old)
                    try keyFile.write(both, using: &writer.randomness)
                    try put(rotation.items, gone: Set(gone), from: old, to: new, writer)
                    // Those of before stand in the file until the next write, which the disk may refuse.
                    use(both)
                    try keyFile.write(new, using: &writer.randomness)
                    use(new)
                    try reachBackups(new, erased: gone, &writer)
                }
            }
        }
        compactJournal()
    }

    /// Destroys what a process that was stopped, or a disk that was full, left of an erasure that was followed:
    /// keys of before, beside those under which all stands by now.
    ///
    /// - Throws: `LogStorageFault`, `FileFault`; `LedgerOpenFault.locked` where another process replaces the keys.
    package func forgetReplacedKeys() throws {
        guard !epochs.replaced.isEmpty else { return }
        try turn.withLock { _ in try destroyReplacedKeys() }
    }

    /// Only for who holds the turn.
    private func destroyReplacedKeys() throws {
        guard !epochs.replaced.isEmpty else { return }
        try writer.withLock { writer in
            try mappingFaults {
                try EpochKeyFile.whileLocked(vaultPath: path) {
                    let keys = try keyFile.read()
                    guard try names.isRotated(to: keys.generation) else { return }
                    try keyFile.write(keys.rotated, using: &writer.randomness)
                    use(keys.rotated)
                    try reachBackups(keys.rotated, erased: allErased(), &writer)
                }
            }
        }
        compactJournal()
    }

    /// Puts items in the place of all that stands in their shards: first in the journal, then in one commit.
    private func put(
        _ items: [VaultRotation.Item],
        gone: Set<UInt64>,
        from old: EpochKeys,
        to new: EpochKeys,
        _ writer: Writer
    ) throws {
        let shards = new.shards(since: old.generation)
        let journal = writer.journal
        try names.rotate(to: new.generation) { transaction in
            var left: Set<UInt64> = []
            for shard in shards.sorted() {
                for (name, stream) in try names.streams(of: shard, transaction) {
                    _ = try transaction.delete(names.names, name.key)
                    left.insert(stream)
                }
            }
            for item in items.lazy.map(\.entry) {
                let shard = StreamNumber.shard(of: item.stream)
                guard shards.contains(shard),
                    try transaction.contains(streams, Key(item.stream))
                else { throw LogStorageFault(.damaged, "an erasure changes what is not there") }
                try transaction.put(streams, Key(item.stream), item.bytes.span)
                left.remove(item.stream)
                guard !gone.contains(item.stream) else { continue }
                guard let entry = try VaultEntry(opening: item.bytes.span, epochKeys: new),
                    entry.stream == item.stream
                else { throw LogStorageFault(.damaged, "a stream of the cluster does not open") }
                try names.put(item.stream, of: .init(entry.digest, shard: shard), transaction)
            }
            guard left.isEmpty else {
                throw LogStorageFault(.damaged, "a stream is missing from the cluster's vault")
            }
            try identifiers.rotate(shards, from: old, to: new, transaction)
            try journal?.append(items.map(\.entry.bytes))
            try journal?.sync()
        }
    }
}

extension [UInt64] {
    /// Whether an ascending list has a number.
    fileprivate func contains(sorted number: UInt64) -> Bool {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] == number
    }
}
