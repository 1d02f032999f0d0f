import EventLog
import LMDB

extension LMDBLog {
    /// Holds the stated end against the last record: an older page in its place would hide the rest.
    ///
    /// Costs three look-ups.
    /// - Throws: `LogStorageFault.damaged` where they differ.
    func checkEnd(of opened: Current) throws {
        let tables = opened.tables
        try opened.environment.read { transaction in
            let stated = try end(transaction, tables).size
            let packed = try transaction.last(tables.bundles) { key, _ in
                key.count == 8 ? key.loadUInt64BigEndian(at: 0) : .max
            }
            let tail = try transaction.last(tables.tail) { key, value in
                (
                    first: key.count == 8 ? key.loadUInt64BigEndian(at: 0) : .max,
                    count: UInt64(try Bundle.count(value))
                )
            }
            let ends = [
                packed.map { ($0 &+ 1) &* Bundle.recordCount },
                tail.map { $0.first &+ $0.count },
            ]
            guard stated == ends.compactMap({ $0 }).max() ?? 0 else {
                throw LogStorageFault(.damaged, "the log's end is not that of its last record")
            }
        }
    }
}
