// Unsafe: values in the map are lent as spans to one closure inside their transaction, while nothing
// may write; a key's bytes live for the call.
//
// What a transaction can read; written once for both kinds.

internal import CLMDB

/// A transaction of either kind, to read through.
///
/// Bytes are lent as a `Span`, for the time of a closure; nothing is copied. In a write
/// transaction the closure may read more, but changing anything while bytes are lent is a
/// programmer error and stops the process: LMDB would move the bytes.
///
/// Functions that read in both kinds take `borrowing some ReadableTransaction & ~Copyable`.
package protocol ReadableTransaction: ~Copyable {
    /// LMDB's transaction.
    var handle: TransactionHandle { get }
}

/// What ``ReadTransaction`` and ``WriteTransaction`` hold; opaque outside this module.
@safe
package struct TransactionHandle {
    let pointer: OpaquePointer
    /// The number of the environment, to recognise its tables.
    let environment: UInt32
    /// What a write transaction notes down; `nil` in a read transaction.
    let writing: UnsafeMutablePointer<WriteState>?
}

/// What a write transaction notes down to keep lent bytes valid and commits whole.
struct WriteState {
    /// The number of closures that hold lent bytes.
    var lentCount = 0
    /// Whether filling a reserved value threw.
    var hasUnfilledValue = false
}

extension ReadableTransaction where Self: ~Copyable {
    /// Lends the value of `key` to `body`.
    ///
    /// - Returns: What `body` returns, or `nil` if the table has no such key.
    ///   O(log n).
    /// - Throws: ``LMDBError``, or what `body` throws.
    @available(*, noasync)
    package func get<Result>(
        _ table: Table,
        _ key: Key,
        _ body: (Span<UInt8>) throws -> Result
    ) throws -> Result? {
        guard let value = try unsafe handle.find(table, key) else { return nil }
        return try handle.lending {
            try unsafe body(value.buffer.span)
        }
    }

    /// Whether the table has `key`.
    ///
    /// O(log n).
    ///
    /// - Throws: ``LMDBError``.
    @available(*, noasync)
    package func contains(_ table: Table, _ key: Key) throws(LMDBError) -> Bool {
        try unsafe handle.find(table, key) != nil
    }

    /// The number of entries.
    ///
    /// O(1).
    ///
    /// - Throws: ``LMDBError``.
    @available(*, noasync)
    package func count(_ table: Table) throws(LMDBError) -> Int {
        try handle.count(table)
    }

    /// The bytes of the pages that hold it.
    ///
    /// O(1).
    ///
    /// - Throws: ``LMDBError``.
    @available(*, noasync)
    package func byteCount(_ table: Table) throws(LMDBError) -> Int {
        try handle.byteCount(table)
    }
}

extension TransactionHandle {
    /// LMDB's number of the table.
    ///
    /// - Precondition: The table belongs to the environment of this transaction.
    func number(of table: Table) -> MDB_dbi {
        precondition(
            table.environment == environment,
            "a table is used in its own environment"
        )
        return table.handle
    }

    func find(_ table: Table, _ key: Key) throws(LMDBError) -> MDB_val? {
        let number = number(of: table)
        var value = unsafe MDB_val()
        let code = unsafe key.withValue { unsafe mdb_get(pointer, number, $0, &value) }
        if code == MDB_NOTFOUND { return nil }
        try check(code, "mdb_get")
        return unsafe value
    }

    func count(_ table: Table) throws(LMDBError) -> Int {
        var stat = MDB_stat()
        try check(unsafe mdb_stat(pointer, number(of: table), &stat), "mdb_stat")
        return stat.ms_entries
    }

    func byteCount(_ table: Table) throws(LMDBError) -> Int {
        var stat = MDB_stat()
        try check(unsafe mdb_stat(pointer, number(of: table), &stat), "mdb_stat")
        // Fits: they are pages of one file.
        return (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages)
            * Int(stat.ms_psize)
    }

    /// Runs `body`, which holds lent bytes.
    func lending<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let writing = unsafe writing else { return try body() }
        unsafe writing.pointee.lentCount += 1
        defer { unsafe writing.pointee.lentCount -= 1 }
        return try body()
    }
}

extension MDB_val {
    /// The bytes, which the transaction owns.
    var buffer: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
            .assumingMemoryBound(to: UInt8.self)
    }
}

extension Key {
    /// Lends the key to C, which only reads it.
    func withValue(_ body: (UnsafeMutablePointer<MDB_val>) -> Int32) -> Int32 {
        unsafe withBytes { bytes in
            var value = unsafe MDB_val(
                mv_size: bytes.count,
                mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            )
            return unsafe body(&value)
        }
    }
}
