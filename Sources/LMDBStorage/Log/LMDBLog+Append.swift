package import EventLog
import LMDB
import Synchronization

extension LMDBLog {
    /// See `LogStorage`.
    package func append(_ batch: LogBatch) throws -> LogEnd {
        if isInDoubt.withLock({ $0 }) { try reopen() }
        return try mappingFaults {
            try withEnvironment { try append(batch, to: $0) }
        }
    }

    private func append(_ batch: LogBatch, to opened: Current) throws -> LogEnd {
        try opened.files?.check()
        let tables = opened.tables
        // Taken, so that nothing is copied; a commit that fails leaves none behind.
        let known = treeWriter.withLock { writer in
            defer { writer = nil }
            return writer
        }
        var tree = try known ?? TileWriter(continuing: self.end().edge, tiles: self)
        guard tree.edge.size == batch.first else {
            throw LogStorageFault(.damaged, "the batch does not begin at the log's end")
        }
        for leaf in batch.leaves { tree.append(leaf) }
        let tiles = tree.takeChanges()
        let end = LogEnd(
            edge: tree.edge,
            lastRecordedAt: batch.lastRecordedAt,
            highestCounter: batch.highestCounter,
            lastOwnRecordedAt: batch.lastOwnRecordedAt
        )
        // Making a table is a transaction of its own, before the one that fills it.
        let shared =
            try batch.sharedParts.isEmpty
            ? nil : opened.environment.table(Self.sharedName, create: true)
        let newStreams = try newStreamsTable(for: batch, opened)
        var removed: UInt64?
        try opened.environment.write(growingBy: MapSize.growth) { transaction in
            guard try self.end(transaction, tables).size == batch.first else {
                throw LogStorageFault(.damaged, "the log's end moved under its writer")
            }
            try putRecords(batch, transaction, tables)
            for attached in batch.attached {
                try transaction.append(
                    tables.attached,
                    Key(attached.sequence),
                    attached.bytes.span
                )
            }
            if let shared { try putSharedParts(of: batch, transaction, shared) }
            if let newStreams {
                removed = try putNewStreams(of: batch, transaction, newStreams)
            }
            // The last, partial tile of leaves is not stored: the tail has its records.
            for tile in tiles where tile.coordinate.level > 0 || tile.coordinate.isFull {
                let key = Key(UInt64(tile.coordinate.level), tile.coordinate.index)
                try transaction.put(tables.tiles, key, tile.bytes.span)
            }
            try put(end, transaction, tables)
        }
        noteRemoved(upTo: removed)
        treeWriter.withLock { $0 = tree }
        roomAhead.withLock { $0.keep(in: opened.environment) }
        return end
    }

    /// Each part once: one that stands is not written again.
    private func putSharedParts(
        of batch: LogBatch,
        _ transaction: borrowing WriteTransaction,
        _ table: Table
    ) throws {
        for part in batch.sharedParts {
            let key = Key(part.digest.bytes.span)
            let known: Void? = try transaction.get(table, key) { _ in }
            if known == nil { try transaction.put(table, key, part.bytes.span) }
        }
    }

    private func put(
        _ end: LogEnd,
        _ transaction: borrowing WriteTransaction,
        _ tables: Tables
    ) throws {
        var writer = ByteWriter(reservingCapacity: 64)
        writer.append(end.lastRecordedAt)
        writer.append(end.highestCounter)
        writer.bytes += end.edge.encoded
        try transaction.put(tables.end, Key(0), writer.bytes.span)
        guard let own = end.lastOwnRecordedAt else { return }
        try transaction.reserve(tables.end, Self.ownKey, count: 8, appending: false) {
            $0.storeUInt64(UInt64(bitPattern: own), at: 0)
        }
    }

    /// Fills bundles; the commit that fills one packs the tail values before it and removes them.
    private func putRecords(
        _ batch: LogBatch,
        _ transaction: borrowing WriteTransaction,
        _ tables: Tables
    ) throws {
        let records = batch.records
        var index = 0
        while index < records.count {
            let sequence = batch.first + UInt64(index)
            let placeInBundle = Int(sequence % Bundle.recordCount)
            let room = Int(Bundle.recordCount) - placeInBundle
            guard records.count - index >= room else {
                let value = records.packed(index..<records.count)
                try transaction.append(tables.tail, Key(sequence), value.span)
                return
            }
            let value =
                placeInBundle == 0
                ? records.packed(index..<index + room)
                : try filled(placeInBundle, records, index..<index + room, transaction, tables)
            try transaction.append(
                tables.bundles,
                Key(sequence / Bundle.recordCount),
                value.span
            )
            index += room
        }
    }

    /// The bundle that the records of the tail values, which are removed, fill with those behind.
    ///
    /// `count`: records of the tail.
    private func filled(
        _ count: Int,
        _ records: RecordList,
        _ range: Range<Int>,
        _ transaction: borrowing WriteTransaction,
        _ tables: Tables
    ) throws -> [UInt8] {
        var all = RecordList()
        all.reserveCapacity(Int(Bundle.recordCount))
        try transaction.scan(tables.tail, from: nil) { _, value in
            let count = try Bundle.count(value)
            for index in 0..<count {
                let range = try Bundle.range(of: index, count: count, in: value)
                all.append(value.extracting(range))
            }
            return true
        }
        guard all.count == count else {
            throw LogStorageFault(.damaged, "the log's tail has a gap")
        }
        try transaction.clear(tables.tail)
        all.append(records, range)
        return all.packed(0..<all.count)
    }
}
