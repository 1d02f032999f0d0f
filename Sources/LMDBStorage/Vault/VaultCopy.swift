import Crypto
import DurableFiles
import EventLog
import Glibc
import LMDB

/// Copies of a vault outside of its environment: what a backup keeps, and a vault made from it.
///
/// A copy is the epoch file, which only the master key opens, and a journal: every item as it stands,
/// sealed.
enum VaultCopy {
    /// Items of one commit.
    private static let itemsPerCommit = 10_000

    /// Makes a vault's environment in an existing, empty directory, with a journal of its own.
    ///
    /// Of a stream the last entry that opens counts; a tombstone is final (Z6). All stand under the keys of
    /// `epochKeys.rotated`: what an erasure that is under way was to seal anew is sealed anew.
    ///
    /// `erased`: streams that are erased, whatever the journal holds.
    ///
    /// - Returns: how many streams it holds, and how many of them are erased.
    /// - Throws: `LogStorageFault`, `FileFault`.
    static func make(
        at path: String,
        from journal: String,
        epochKeys: EpochKeys,
        erased: Set<UInt64>
    ) throws -> VaultCounts {
        let environment = try mappingFaults {
            try LMDB.Environment(path: path, options: .init(mapSize: MapSize.usual))
        }
        defer { environment.close() }
        guard let table = try mappingFaults({ try environment.table("streams", create: true) })
        else { throw LogStorageFault(.unreadable, "the vault's table cannot be made") }
        let keys = EntryKeys(epochKeys)
        var randomness = RandomSource.system
        var items: [VaultItem] = []
        func commit() throws {
            try mappingFaults {
                try environment.write(growingBy: MapSize.growth) { transaction in
                    for item in items { try put(item, transaction, table, keys, &randomness) }
                }
            }
            items = []
        }
        try VaultJournalReader.read(journal) { _, part in
            guard case .item(let item) = part else { return }
            items.append(item)
            if items.count == itemsPerCommit { try commit() }
        }
        items += erased.sorted().map { .tombstone(stream: $0) }
        try commit()
        // Readers find the table of names made.
        try mappingFaults {
            try VaultNames(
                environment: environment,
                streams: table,
                generation: epochKeys.generation,
                isReadOnly: false
            )
        }
        .finish()
        let file = try DurableFile.openForAppending(path + "/" + VaultJournal.fileName)
        defer { close(file) }
        // A journal that was torn leaves gaps, which an audit names.
        return try write(table, of: environment, to: file, isWhole: false)
    }

    private static func put(
        _ item: VaultItem,
        _ transaction: borrowing WriteTransaction,
        _ table: Table,
        _ keys: EntryKeys,
        _ randomness: inout RandomSource
    ) throws {
        let key = Key(item.stream)
        guard case .entry(_, _, let bytes) = item else {
            return try transaction.put(table, key, item.bytes.span)
        }
        let isErased = try transaction.get(table, key) {
            try VaultEntry.isTombstone($0, of: item.stream)
        }
        guard isErased != true, let entry = try keys.current(bytes, using: &randomness) else {
            return
        }
        try transaction.put(table, key, entry.span)
    }

    /// Items that are read in one transaction: no reader lives as long as a copy takes.
    private static let itemsPerTransaction = 4096

    /// Appends the items of a table to a file, in the order of their counters, and syncs it.
    ///
    /// The file is written between the transactions, however slow its disk is. What is added to the table
    /// meanwhile is left out; of what an erasure changes meanwhile some may stand as it was before: who
    /// copies a vault in use holds the epoch keys of before against those of afterwards.
    ///
    /// `first`: the counters whose items the file holds already. `isWhole`: whether every counter has its
    /// item, as in a vault in use.
    ///
    /// - Returns: how many items were appended, and how many of them are tombstones.
    /// - Throws: `LogStorageFault.damaged` for an item that is not whole or that is missing, `FileFault`.
    @discardableResult
    static func write(
        _ table: Table,
        of environment: LMDB.Environment,
        to file: Int32,
        after first: Int = 0,
        isWhole: Bool = true
    ) throws -> VaultCounts {
        let end = try mappingFaults { try environment.read { try $0.count(table) } }
        var counts = VaultCounts(streams: 0, erased: 0)
        var next = StreamNumber.number(counter: UInt64(first) + 1, shard: 0)
        while first + counts.streams < end {
            var bytes: [UInt8] = []
            var left = min(end - first - counts.streams, itemsPerTransaction)
            try mappingFaults {
                try environment.read { transaction in
                    try transaction.scan(table, from: Key(next)) { key, value in
                        guard key.count == 8 else {
                            throw LogStorageFault(.damaged, "a stream's key is not a number")
                        }
                        let stream = key.loadUInt64BigEndian(at: 0)
                        // What is damaged would be passed over where the copy is read, without a word.
                        let digest = try VaultEntry.checkedDigest(of: value, stream: stream)
                        counts.streams += 1
                        if digest == nil { counts.erased += 1 }
                        // A damaged branch leads past streams, or to some of them again.
                        let counter = StreamNumber.counter(of: stream)
                        guard !isWhole || counter == first + counts.streams else { throw missing }
                        bytes += value.copy()
                        next = stream &+ 1
                        left -= 1
                        return left > 0
                    }
                }
            }
            guard left == 0 else { throw missing }
            try DurableFile.write(bytes, to: file)
        }
        guard fsync(file) == 0 else { throw FileFault(errno, "fsync") }
        return counts
    }

    private static let missing = LogStorageFault(.damaged, "a stream is missing from the vault")
}
