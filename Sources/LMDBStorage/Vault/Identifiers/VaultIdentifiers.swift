import EventLog
import LMDB

/// Finds streams by the ids that stand sealed in their records (row 8.6).
///
/// The table `identifiers` is derived from the log and follows behind it. A key is a bucket: the shard of
/// the streams and the first bits of the digests under that shard's epoch key; its value holds the rows,
/// ascending and of 10 bytes each: more bits of a digest, and a stream. The id itself stands nowhere in
/// it: whoever finds a stream looks for the id in its records. So a shard whose epoch key goes is emptied
/// and noted down, to be read from the log again. Under a key of its own stands what the table covers.
struct VaultIdentifiers: Sendable {
    private let environment: LMDB.Environment
    /// nil: who only reads opened a vault that has none yet.
    private let table: Table?

    private static let coverKey = Key(0)
    private static let coverCount = 40
    /// Behind it, a byte that tells its form from an older one, which has no check: its length is odd.
    private static let coverMark: UInt8 = 1
    /// Of the mark, and of the CRC behind it.
    private static let checkCount = 5

    /// Rows below which they are written in one commit.
    private static let fewRows = 1 << 10
    /// Commits of more rows, each for a part of the buckets.
    ///
    /// Digests fall anywhere, so that a batch writes each page of the table anew, and LMDB uses the old
    /// ones only two commits later: in one commit a batch would have the table stand there three times.
    private static let partCount = 16

    /// What the table holds.
    struct Cover {
        /// How many of the log's first records it was filled from.
        var end: UInt64 = 0
        /// Of the epoch keys that it is made under: one that another program left behind is of none.
        var generation: UInt64
        var count: UInt64 = 0
        /// Of the fingerprints of its rows.
        var sum: UInt64 = 0
        /// Shards that an erasure emptied, ascending.
        var outdated: [Int] = []
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
        return try transaction.get(table, Self.coverKey) { Self.cover(of: $0) } ?? nil
    }

    /// Reads what the table holds; nil: nothing that is known, so that it is filled anew.
    private static func cover(of value: Span<UInt8>) -> Cover? {
        guard isWhole(value) else { return nil }
        let end = isChecked(value) ? value.count - checkCount : value.count
        // An older table, whose rows held the ids sealed, has a shorter one: it holds nothing.
        guard end >= coverCount, value.uint64(at: 32) == UInt64(end - coverCount) / 2 else {
            return nil
        }
        return Cover(
            end: value.uint64(at: 0),
            generation: value.uint64(at: 8),
            count: value.uint64(at: 16),
            sum: value.uint64(at: 24),
            outdated: stride(from: coverCount, to: end, by: 2)
                .map { Int(value.loadUInt16(at: $0)) }
                .filter { $0 < StreamNumber.shardCount }
        )
    }

    private static func isChecked(_ value: Span<UInt8>) -> Bool { !value.count.isMultiple(of: 2) }

    /// Whether it is what was written; of one without a check nobody can tell.
    private static func isWhole(_ value: Span<UInt8>) -> Bool {
        guard isChecked(value) else { return true }
        guard value.count >= checkCount else { return false }
        let place = value.count - 4
        return CRC32C.checksum(value.extracting(0..<place)) == value.uint32(at: place)
    }

    /// Bytes of the file that it takes.
    func byteCount() throws -> Int {
        guard let table else { return 0 }
        return try environment.read { try $0.byteCount(table) }
    }

    /// Streams that may hold an id, ascending; nil: the table is not of these epoch keys.
    func streams(holding identifier: String, _ epochs: EpochKeys) throws -> [UInt64]? {
        let id = Array(identifier.utf8)
        return try environment.read { transaction in
            guard let table, let cover = try cover(transaction) else { return [] }
            guard cover.generation == epochs.generation else { return nil }
            var found: [UInt64] = []
            for shard in 0..<StreamNumber.shardCount {
                let place = IdentifierPlace(of: id, shard: shard, epochs)
                let counters = try transaction.get(table, Self.key(of: place.bucket)) { value in
                    try Self.counters(of: place.tag, in: value)
                }
                for counter in counters ?? [] {
                    found.append(StreamNumber.number(counter: counter, shard: shard))
                }
            }
            return found.sorted()
        }
    }

    private static func counters(of tag: UInt32, in bucket: Span<UInt8>) throws -> [UInt64] {
        let count = try rowCount(of: bucket)
        let first = IdentifierRow.partition(count) { IdentifierRow($0, of: bucket).tag < tag }
        var counters: [UInt64] = []
        for number in first..<count {
            let row = IdentifierRow(number, of: bucket)
            guard row.tag == tag else { break }
            counters.append(row.counter)
        }
        return counters
    }

    private static func rowCount(of bucket: Span<UInt8>) throws -> Int {
        guard bucket.count.isMultiple(of: IdentifierRow.byteCount) else {
            throw LogStorageFault(.damaged, "the vault's ids are not whole")
        }
        return bucket.count / IdentifierRow.byteCount
    }

    /// The rows of a bucket, ascending.
    private func rows<Transaction: ReadableTransaction & ~Copyable>(
        of bucket: Int,
        _ table: Table,
        _ transaction: borrowing Transaction
    ) throws -> [IdentifierRow] {
        try transaction.get(table, Self.key(of: bucket)) { value in
            var rows: [IdentifierRow] = []
            for number in 0..<(try Self.rowCount(of: value)) {
                rows.append(IdentifierRow(number, of: value))
            }
            return rows
        } ?? []
    }

    /// Checks that what the table covers is as it was written, and every row too, found by its key.
    ///
    /// - Throws: `LogStorageFault.damaged`.
    func check() throws {
        try environment.read { transaction in
            guard let table else { return }
            let isWhole = try transaction.get(table, Self.coverKey) { Self.isWhole($0) }
            guard isWhole != false else {
                throw LogStorageFault(
                    .damaged,
                    "what the vault's ids cover is not what was written"
                )
            }
            guard let cover = try cover(transaction) else { return }
            var (count, sum) = (UInt64(0), UInt64(0))
            // Each is looked up: a damaged branch leads past buckets that a scan still meets.
            for bucket in 0..<IdentifierPlace.bucketCount {
                for row in try rows(of: bucket, table, transaction) {
                    count += 1
                    sum &+= row.fingerprint(in: bucket)
                }
            }
            guard count == cover.count, sum == cover.sum else {
                throw LogStorageFault(.damaged, "the vault's ids are not those that were written")
            }
        }
    }

    // MARK: Writing

    /// Adds ids of records from where the table ends; false: it ends elsewhere.
    ///
    /// It ends where it ended until the last of them is written; what was stopped is added again.
    func add(
        _ identifiers: Set<HeldIdentifier>,
        from start: UInt64,
        upTo end: UInt64,
        _ epochs: EpochKeys
    ) throws -> Bool {
        guard let table else { return false }
        var rest = Self.placed(identifiers, epochs)[...]
        let parts = rest.count < Self.fewRows ? 1 : Self.partCount
        for part in 1...parts {
            // Fits: buckets are few.
            let limit = IdentifierPlace.bucketCount * part / parts
            let rows = rest.prefix { $0.bucket < limit }
            rest = rest.dropFirst(rows.count)
            guard part == parts || !rows.isEmpty else { continue }
            let isAdded = try environment.write(growingBy: MapSize.growth) { transaction in
                var next = try begun(table, epochs, transaction)
                guard next.end == start else { return false }
                try put(rows, table, &next, transaction)
                if part == parts { next.end = end }
                try put(next, table, transaction)
                return true
            }
            guard isAdded else { return false }
        }
        return true
    }

    /// Adds what was read again of a shard that an erasure emptied.
    func complete(_ shard: Int, _ identifiers: Set<HeldIdentifier>, _ epochs: EpochKeys) throws {
        guard let table else { return }
        let rows = Self.placed(identifiers, epochs)
        try environment.write(growingBy: MapSize.growth) { transaction in
            guard var next = try cover(transaction), next.generation == epochs.generation,
                let place = next.outdated.firstIndex(of: shard)
            else { return }
            next.outdated.remove(at: place)
            try put(rows[...], table, &next, transaction)
            try put(next, table, transaction)
        }
    }

    /// Removes all rows.
    func clear() throws {
        guard let table else { return }
        try environment.write { try $0.clear(table) }
    }

    /// Empties some shards, whose epoch keys go, and notes them down.
    ///
    /// Where it is damaged the whole table is emptied, to be filled from the log.
    func rotate(
        _ shards: some Collection<Int>,
        from old: EpochKeys,
        to new: EpochKeys,
        _ transaction: borrowing WriteTransaction
    ) throws {
        guard let table else { return }
        guard var next = try cover(transaction), next.generation == old.generation else {
            return try transaction.clear(table)
        }
        var outdated = Set(next.outdated)
        for shard in shards {
            for bucket in IdentifierPlace.buckets(of: shard) {
                // What is damaged does not stay.
                guard let rows = try? rows(of: bucket, table, transaction) else {
                    return try transaction.clear(table)
                }
                guard !rows.isEmpty else { continue }
                _ = try transaction.delete(table, Self.key(of: bucket))
                outdated.insert(shard)
                for row in rows {
                    next.count &-= 1
                    next.sum &-= row.fingerprint(in: bucket)
                }
            }
        }
        next.outdated = outdated.sorted()
        next.generation = new.generation
        try put(next, table, transaction)
    }

    /// What the table holds; one that holds nothing, or is of other epoch keys, is emptied.
    private func begun(
        _ table: Table,
        _ epochs: EpochKeys,
        _ transaction: borrowing WriteTransaction
    ) throws -> Cover {
        if let cover = try cover(transaction), cover.generation == epochs.generation {
            return cover
        }
        try transaction.clear(table)
        return Cover(generation: epochs.generation)
    }

    private typealias PlacedRow = (bucket: Int, row: IdentifierRow)

    /// The rows of ids, in the order of the table.
    private static func placed(
        _ identifiers: Set<HeldIdentifier>,
        _ epochs: EpochKeys
    ) -> [PlacedRow] {
        identifiers.compactMap { held -> PlacedRow? in
            let place = IdentifierPlace(
                of: Array(held.text.utf8),
                shard: StreamNumber.shard(of: held.stream),
                epochs
            )
            return IdentifierRow(place, stream: held.stream).map { (place.bucket, $0) }
        }.sorted { ($0.bucket, $0.row) < ($1.bucket, $1.row) }
    }

    /// Adds rows to their buckets, each once.
    private func put(
        _ rows: ArraySlice<PlacedRow>,
        _ table: Table,
        _ cover: inout Cover,
        _ transaction: borrowing WriteTransaction
    ) throws {
        var rest = rows
        while let bucket = rest.first?.bucket {
            let added = rest.prefix { $0.bucket == bucket }
            rest = rest.dropFirst(added.count)
            var all = try self.rows(of: bucket, table, transaction)
            let before = all.count
            for (_, row) in added {
                let place = IdentifierRow.partition(all.count) { all[$0] < row }
                guard place == all.count || all[place] != row else { continue }
                all.insert(row, at: place)
                cover.count &+= 1
                cover.sum &+= row.fingerprint(in: bucket)
            }
            guard all.count > before else { continue }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(all.count * IdentifierRow.byteCount)
            for row in all { row.append(to: &bytes) }
            try transaction.put(table, Self.key(of: bucket), bytes.span)
        }
    }

    private func put(
        _ cover: Cover,
        _ table: Table,
        _ transaction: borrowing WriteTransaction
    ) throws {
        var writer = ByteWriter(
            reservingCapacity: Self.coverCount + 2 * cover.outdated.count + Self.checkCount
        )
        for number in [cover.end, cover.generation, cover.count, cover.sum] {
            writer.append(number)
        }
        writer.append(UInt64(cover.outdated.count))
        // Fits: a shard has 12 bits.
        for shard in cover.outdated { writer.append(UInt16(shard)) }
        writer.append(Self.coverMark)
        writer.append(CRC32C.checksum(writer.bytes.span))
        try transaction.put(table, Self.coverKey, writer.bytes.span)
    }

    /// Behind that of what is covered.
    private static func key(of bucket: Int) -> Key { Key(UInt64(bucket) + 1) }
}
