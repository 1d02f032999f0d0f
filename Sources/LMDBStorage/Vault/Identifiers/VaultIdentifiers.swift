import EventLog
import LMDB

/// Finds streams by the ids that stand sealed in their records (row 8.6).
///
/// The table `identifiers` is derived from the log and follows behind it. A key is the shard of the stream,
/// 52 bits of the id's digest under the shard's epoch key, and the stream; its value is the id, sealed
/// under that epoch key and bound to the table's key. So what is found is believed only where it opens to
/// the id that was asked for, and a shard is sealed anew from the table alone. Under a key of 8 bytes,
/// which no id has, stands what the table covers.
struct VaultIdentifiers: Sendable {
    private let environment: LMDB.Environment
    /// nil: who only reads opened a vault that has none yet.
    private let table: Table?

    private static let coverKey = Key(0)
    private static let coverCount = 32
    /// Apart from names, of which digests are made under the same keys: no environment has this number.
    private static let mark: UInt8 = 0xFF

    /// What the table holds.
    struct Cover {
        /// How many of the log's first records it was filled from.
        var end: UInt64 = 0
        /// Of the epoch keys that it is sealed under: one that another program left behind is of none.
        var generation: UInt64
        var count: UInt64 = 0
        /// Of the fingerprints of its rows.
        var sum: UInt64 = 0
    }

    init(environment: LMDB.Environment, isReadOnly: Bool) throws {
        self.environment = environment
        table = try environment.table("identifiers", create: !isReadOnly)
    }

    // MARK: Reading

    /// What the table holds; nil: nothing.
    func cover() throws -> Cover? { try environment.read { try cover($0) } }

    private func cover<Transaction: ReadableTransaction & ~Copyable>(
        _ transaction: borrowing Transaction
    ) throws -> Cover? {
        guard let table else { return nil }
        return try transaction.get(table, Self.coverKey) { value -> Cover? in
            guard value.count == Self.coverCount else { return nil }
            return Cover(
                end: value.uint64(at: 0),
                generation: value.uint64(at: 8),
                count: value.uint64(at: 16),
                sum: value.uint64(at: 24)
            )
        } ?? nil
    }

    /// Bytes of the file that it takes.
    func byteCount() throws -> Int {
        guard let table else { return 0 }
        return try environment.read { try $0.byteCount(table) }
    }

    /// The streams that hold an id, ascending; nil: the table is not of these epoch keys.
    func streams(holding identifier: String, _ epochs: EpochKeys) throws -> [UInt64]? {
        let id = Array(identifier.utf8)
        return try environment.read { transaction in
            guard let table, let cover = try cover(transaction) else { return [] }
            guard cover.generation == epochs.generation else { return nil }
            var found: [UInt64] = []
            for shard in 0..<StreamNumber.shardCount {
                let place = Self.place(of: id, shard, epochs)
                try transaction.scan(table, from: Key(place, 0)) { key, value in
                    guard let row = Row(key), row.place == place else { return false }
                    if Self.open(value, at: row, epochs) == id { found.append(row.stream) }
                    return true
                }
            }
            return found.sorted()
        }
    }

    /// Checks that every row is there, as it was written, and found by its key.
    ///
    /// - Throws: `LogStorageFault.damaged`.
    func check() throws {
        try environment.read { transaction in
            guard let table, let cover = try cover(transaction) else { return }
            var (count, sum) = (UInt64(0), UInt64(0))
            try transaction.scan(table, from: nil) { key, value in
                guard let row = Row(key) else { return true }
                count += 1
                sum &+= row.fingerprint(value)
                // A damaged branch leads past rows that a scan still meets.
                return try transaction.contains(table, row.key)
            }
            guard count == cover.count, sum == cover.sum else {
                throw LogStorageFault(.damaged, "the vault's ids are not those that were written")
            }
        }
    }

    // MARK: Writing

    /// Adds ids of records from where the table ends; false: it ends elsewhere.
    func add(
        _ identifiers: Set<HeldIdentifier>,
        from start: UInt64,
        upTo end: UInt64,
        _ epochs: EpochKeys,
        using randomness: inout RandomSource
    ) throws -> Bool {
        guard let table else { return false }
        let rows = identifiers.map { held in
            let id = Array(held.text.utf8)
            let place = Self.place(of: id, StreamNumber.shard(of: held.stream), epochs)
            return (row: Row(place: place, stream: held.stream), id: id)
        }.sorted { $0.row < $1.row }
        var drawn = randomness
        defer { randomness = drawn }
        return try environment.write(growingBy: MapSize.growth) { transaction in
            var next = try cover(transaction) ?? Cover(generation: epochs.generation)
            if next.generation != epochs.generation {
                try transaction.clear(table)
                next = Cover(generation: epochs.generation)
            }
            guard next.end == start else { return false }
            for (row, id) in rows where try !transaction.contains(table, row.key) {
                try put(id, at: row, table, &next, epochs, &drawn, transaction)
            }
            next.end = end
            try put(next, transaction)
            return true
        }
    }

    /// Removes all rows.
    func clear() throws {
        guard let table else { return }
        try environment.write { try $0.clear(table) }
    }

    /// Seals the rows of some shards anew, without those of streams that go.
    ///
    /// What does not open is damaged: then the table is emptied, to be filled from the log.
    func rotate(
        _ shards: some Collection<Int>,
        from old: EpochKeys,
        to new: EpochKeys,
        without gone: Set<UInt64>,
        using randomness: inout RandomSource,
        _ transaction: borrowing WriteTransaction
    ) throws {
        guard let table, var next = try cover(transaction) else { return }
        for shard in shards.sorted() {
            let rows = try rows(of: shard, table, old, transaction)
            guard next.generation == old.generation, let rows else {
                return try transaction.clear(table)
            }
            for (row, id, fingerprint) in rows {
                _ = try transaction.delete(table, row.key)
                next.count &-= 1
                next.sum &-= fingerprint
                guard !gone.contains(row.stream) else { continue }
                let moved = Row(place: Self.place(of: id, shard, new), stream: row.stream)
                try put(id, at: moved, table, &next, new, &randomness, transaction)
            }
        }
        next.generation = new.generation
        try put(next, transaction)
    }

    /// The rows of a shard, opened; nil: one does not open.
    private func rows(
        of shard: Int,
        _ table: Table,
        _ epochs: EpochKeys,
        _ transaction: borrowing WriteTransaction
    ) throws -> [(row: Row, id: [UInt8], fingerprint: UInt64)]? {
        var rows: [(row: Row, id: [UInt8], fingerprint: UInt64)] = []
        var isWhole = true
        let first = VaultNames.Name.first(of: shard).high
        try transaction.scan(table, from: Key(first, 0)) { key, value in
            guard let row = Row(key), row.shard == shard else { return false }
            guard let id = Self.open(value, at: row, epochs) else {
                isWhole = false
                return false
            }
            rows.append((row, id, row.fingerprint(value)))
            return true
        }
        return isWhole ? rows : nil
    }

    private func put(
        _ id: [UInt8],
        at row: Row,
        _ table: Table,
        _ cover: inout Cover,
        _ epochs: EpochKeys,
        _ randomness: inout RandomSource,
        _ transaction: borrowing WriteTransaction
    ) throws {
        let value = try Sealing.seal(
            id,
            key: epochs.shards[row.shard],
            nonce: SealingNonce(using: &randomness),
            associatedData: row.bytes
        )
        try transaction.put(table, row.key, value.span)
        cover.count &+= 1
        cover.sum &+= row.fingerprint(value.span)
    }

    private func put(_ cover: Cover, _ transaction: borrowing WriteTransaction) throws {
        guard let table else { return }
        try transaction.reserve(table, Self.coverKey, count: Self.coverCount, appending: false) {
            $0.storeUInt64(cover.end, at: 0)
            $0.storeUInt64(cover.generation, at: 8)
            $0.storeUInt64(cover.count, at: 16)
            $0.storeUInt64(cover.sum, at: 24)
        }
    }

    // MARK: Rows

    /// Where the rows of an id begin in a shard.
    private static func place(of id: [UInt8], _ shard: Int, _ epochs: EpochKeys) -> UInt64 {
        let digest = SignalDigest(
            KeyedHash(epochs.shards[shard]).code(for: ([mark] + id).span)
        )
        return VaultNames.Name(digest, shard: shard).high
    }

    /// The id of a row; nil where it is sealed under other epoch keys, or was altered.
    private static func open(
        _ value: Span<UInt8>,
        at row: Row,
        _ epochs: EpochKeys
    ) -> [UInt8]? {
        Sealing.open(
            value.copy(0..<value.count),
            key: epochs.shards[row.shard],
            associatedData: row.bytes
        )
    }

    /// A key of the table.
    private struct Row: Comparable {
        /// The shard, then bits of the digest.
        var place: UInt64
        var stream: UInt64

        init(place: UInt64, stream: UInt64) { (self.place, self.stream) = (place, stream) }

        /// nil for the key of what is covered.
        init?(_ key: Span<UInt8>) {
            guard key.count == 16 else { return nil }
            place = key.loadUInt64BigEndian(at: 0)
            stream = key.loadUInt64BigEndian(at: 8)
        }

        var shard: Int { Int(place >> (UInt64(UInt64.bitWidth) - StreamNumber.shardBits)) }
        var key: Key { Key(place, stream) }

        /// What a value is bound to.
        var bytes: [UInt8] {
            var writer = ByteWriter(reservingCapacity: 16)
            writer.append(place)
            writer.append(stream)
            return writer.bytes
        }

        /// A number for the row as it is written: sums of them differ where sets do.
        func fingerprint(_ value: Span<UInt8>) -> UInt64 {
            VaultNames.fingerprint(place, stream, UInt64(CRC32C.checksum(value)))
        }

        static func < (left: Row, right: Row) -> Bool {
            (left.place, left.stream) < (right.place, right.stream)
        }
    }
}
