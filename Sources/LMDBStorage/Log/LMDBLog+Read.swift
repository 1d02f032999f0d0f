import EventLog
import LMDB

// Fits throughout: keys are held against the place that is read before anything is added to them.

extension LMDBLog {
    /// See `LogStorage`.
    package func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (_ first: UInt64, _ block: Span<UInt8>) throws -> Bool
    ) throws {
        var next = first
        var isDone = false
        while next < end && !isDone {
            let before = next
            try read { transaction, tables in
                isDone = try readBundles(&next, upTo: end, transaction, tables, body)
                if !isDone && next < end {
                    isDone = try readTail(&next, upTo: end, transaction, tables, body)
                }
            }
            guard next > before || isDone else {
                throw LogStorageFault(.damaged, "record \(next) is missing")
            }
        }
    }

    /// Reads at most one transaction's worth of bundles; true: the body wants no more.
    private func readBundles(
        _ next: inout UInt64,
        upTo end: UInt64,
        _ transaction: borrowing ReadTransaction,
        _ tables: Tables,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws -> Bool {
        var position = next
        var left = Self.bundlesPerTransaction
        var isDone = false
        try transaction.scan(tables.bundles, from: Key(next / Bundle.recordCount)) { key, value in
            let bundle = key.count == 8 ? key.loadUInt64BigEndian(at: 0) : .max
            guard bundle == position / Bundle.recordCount else { return false }
            isDone = try !body(bundle * Bundle.recordCount, value)
            position = (bundle + 1) * Bundle.recordCount
            left -= 1
            return !isDone && left > 0 && position < end
        }
        next = position
        return isDone
    }

    private func readTail(
        _ next: inout UInt64,
        upTo end: UInt64,
        _ transaction: borrowing ReadTransaction,
        _ tables: Tables,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws -> Bool {
        var position = next
        var isDone = false
        try transaction.scan(tables.tail, from: nil) { key, value in
            let first = key.count == 8 ? key.loadUInt64BigEndian(at: 0) : .max
            let count = UInt64(try Bundle.count(value))
            guard first <= position else { return false }
            if position - first >= count { return true }
            isDone = try !body(first, value)
            position = first + count
            return !isDone && position < end
        }
        next = position
        return isDone
    }

    /// See `LogStorage`.
    package func readRecords(
        _ sequences: [UInt64],
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Void
    ) throws {
        guard !sequences.isEmpty else { return }
        try read { transaction, tables in
            for sequence in sequences {
                try readRecord(sequence, transaction, tables) { try body(sequence, $0) }
            }
        }
    }

    private func readRecord(
        _ sequence: UInt64,
        _ transaction: borrowing ReadTransaction,
        _ tables: Tables,
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        let bundle = Key(sequence / Bundle.recordCount)
        let isPacked: Void? = try transaction.get(tables.bundles, bundle) { value in
            try lend(Int(sequence % Bundle.recordCount), of: value, body)
        }
        if isPacked != nil { return }
        var isFound = false
        try transaction.scanBackward(tables.tail, from: Key(sequence)) { key, value in
            let first = key.count == 8 ? key.loadUInt64BigEndian(at: 0) : .max
            guard first <= sequence, sequence - first < UInt64(try Bundle.count(value)) else {
                return false
            }
            try lend(Int(sequence - first), of: value, body)
            isFound = true
            return false
        }
        guard isFound else { throw LogStorageFault(.damaged, "record \(sequence) is missing") }
    }

    private func lend(
        _ index: Int,
        of value: Span<UInt8>,
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        let count = try Bundle.count(value)
        guard index < count else { throw LogStorageFault(.damaged, "a bundle is too short") }
        try body(value.extracting(try Bundle.range(of: index, count: count, in: value)))
    }
}
