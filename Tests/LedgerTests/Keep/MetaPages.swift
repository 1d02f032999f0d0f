import Foundation

/// The two pages that a log's data file begins with, of which the newer one counts (LMDB 0.9, `mdb.c`).
enum MetaPages {
    static let pageSize = 4096
    private static let rootOffset = 128
    private static let transactionOffset = 144

    /// The number of the newer one: 0 or 1.
    static func newest(_ data: Data) -> Int {
        let transactions = (0..<2).map { number(data, at: $0 * pageSize + transactionOffset) }
        return transactions[0] > transactions[1] ? 0 : 1
    }

    /// The bytes of one.
    static func range(of page: Int) -> Range<Int> { page * pageSize..<(page + 1) * pageSize }

    /// The bytes of the page that all tables are reached from, by a meta page.
    static func root(_ data: Data, of page: Int) -> Range<Int> {
        range(of: Int(number(data, at: page * pageSize + rootOffset)))
    }

    private static func number(_ data: Data, at place: Int) -> UInt64 {
        data[place..<place + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
}
