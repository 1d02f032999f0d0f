package import EventLog
import LMDB
import Synchronization

extension LMDBLog {
    /// See `LogStorage`.
    package func append(_ batch: LogBatch) throws -> LogEnd {
        try mappingFaults {
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
            // The last, partial tile of leaves is not stored: the tail has its records.
            for tile in tiles where tile.coordinate.level > 0 || tile.coordinate.isFull {
                let key = Key(UInt64(tile.coordinate.level), tile.coordinate.index)
                try transaction.put(tables.tiles, key, tile.bytes.span)
            }
            try put(end, transaction, tables)
        }
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
        var index = 0
        while index < batch.records.count {
            let sequence = batch.first + UInt64(index)
            let placeInBundle = Int(sequence % Bundle.recordCount)
            let room = Int(Bundle.recordCount) - placeInBundle
            guard batch.records.count - index >= room else {
                let value = Bundle.pack(batch.records[index...])
                try transaction.append(tables.tail, Key(sequence), value.span)
                return
            }
            var records = placeInBundle == 0 ? [] : try takeTail(transaction, tables)
            guard records.count == placeInBundle else {
                throw LogStorageFault(.damaged, "the log's tail has a gap")
            }
            records += batch.records[index..<index + room]
            let value = Bundle.pack(records)
            try transaction.append(
                tables.bundles,
                Key(sequence / Bundle.recordCount),
                value.span
            )
            index += room
        }
    }

    /// The records of the tail values, which are removed.
    private func takeTail(
        _ transaction: borrowing WriteTransaction,
        _ tables: Tables
    ) throws -> [[UInt8]] {
        var records: [[UInt8]] = []
        try transaction.scan(tables.tail, from: nil) { _, value in
            let count = try Bundle.count(value)
            for index in 0..<count {
                records.append(value.copy(try Bundle.range(of: index, count: count, in: value)))
            }
            return true
        }
        try transaction.clear(tables.tail)
        return records
    }
}
