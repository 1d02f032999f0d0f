import EventLog

/// Keys that open the entries of a vault's copy: the epoch keys, and beside them those that an erasure
/// was to replace when it was stopped between its steps (Storage, "Vault and erasure").
struct EntryKeys {
    let epochs: EpochKeys
    /// Those of the generation before; nil: no erasure is under way.
    private let before: EpochKeys?

    init(_ epochs: EpochKeys) {
        self.epochs = epochs
        before = epochs.replaced.isEmpty ? nil : epochs.keys(of: epochs.generation &- 1)
    }

    /// Streams that the erasure which was stopped takes: its event stands, or stood, in the log, which may
    /// have lost it.
    ///
    /// - Throws: `LogStorageFault.damaged`, `FileFault`.
    func erasing(in folder: String) throws -> [UInt64] {
        guard before != nil else { return [] }
        return try ErasureNote.read(folder + "/" + ErasureNote.fileName)?.streams ?? []
    }

    /// Whether one of them opens an entry.
    func open(_ bytes: [UInt8]) -> Bool {
        entry(bytes, under: epochs) != nil || before.map { entry(bytes, under: $0) != nil } ?? false
    }

    /// An entry as it stands under the epoch keys, sealed anew where only those of before open it; nil:
    /// nothing opens it.
    func current(_ bytes: [UInt8], using randomness: inout RandomSource) throws -> [UInt8]? {
        if entry(bytes, under: epochs) != nil { return bytes }
        guard let before, var entry = entry(bytes, under: before) else { return nil }
        let shard = StreamNumber.shard(of: entry.stream)
        entry.digest = epochs.digest(of: entry.name, shard: shard)
        return try entry.sealed(under: epochs.shards[shard], using: &randomness)
    }

    private func entry(_ bytes: [UInt8], under keys: EpochKeys) -> VaultEntry? {
        // What no key opens belongs to nobody any more.
        try? VaultEntry(opening: bytes.span, epochKeys: keys)
    }
}
