// Unsafe: the room that LMDB reserves is lent as a span of exactly its length, before anything else is
// written; keys and values that are put live for the call.
//
// The one writer.

internal import CLMDB

/// The transaction that changes tables, lent by ``Environment/write(_:)``.
///
/// It sees its own changes; others see them after the commit. After an error of a change the
/// transaction can only be abandoned: let the error leave the closure.
///
/// No change while bytes of this transaction are lent to a closure: collect first, change then.
package struct WriteTransaction: ~Copyable, ReadableTransaction {
    /// LMDB's transaction.
    package let handle: TransactionHandle

    /// Sets the value of `key`, replacing one that exists.
    ///
    /// O(log n).
    ///
    /// - Throws: ``LMDBError``; kind `mapFull` asks for ``Environment/grow(toMapSize:)``.
    /// - Precondition: No bytes of this transaction are lent.
    @available(*, noasync)
    package func put(_ table: Table, _ key: Key, _ value: Span<UInt8>) throws(LMDBError) {
        try put(table, key, value, flags: 0)
    }

    /// Adds an entry behind the last one of the table; fills pages completely.
    ///
    /// - Throws: ``LMDBError``; its code is `MDB_KEYEXIST` if `key` is not behind the last key.
    /// - Precondition: No bytes of this transaction are lent.
    @available(*, noasync)
    package func append(_ table: Table, _ key: Key, _ value: Span<UInt8>) throws(LMDBError) {
        try put(table, key, value, flags: UInt32(MDB_APPEND))
    }

    /// Makes room for a value and lets `fill` write it in place, without a copy.
    ///
    /// If `fill` throws, the transaction cannot commit any more.
    ///
    /// - Parameters:
    ///   - table: The table to change.
    ///   - key: The key; an existing value is replaced.
    ///   - count: The size of the value, in bytes.
    ///   - isAppended: Whether the key is behind the last one of the table.
    ///   - fill: Writes every byte: what it leaves out has any value.
    /// - Throws: ``LMDBError``, or what `fill` throws.
    /// - Precondition: No bytes of this transaction are lent.
    @available(*, noasync)
    package func reserve(
        _ table: Table,
        _ key: Key,
        count: Int,
        appending isAppended: Bool,
        _ fill: (inout MutableSpan<UInt8>) throws -> Void
    ) throws {
        precondition(count >= 0, "a value has a size")
        var value = unsafe MDB_val(mv_size: count, mv_data: nil)
        let flags = UInt32(MDB_RESERVE | (isAppended ? MDB_APPEND : 0))
        let number = changing(table)
        try check(
            unsafe key.withValue { unsafe mdb_put(handle.pointer, number, $0, &value, flags) },
            "mdb_put"
        )
        let buffer = unsafe UnsafeMutableBufferPointer(
            start: value.mv_data?.assumingMemoryBound(to: UInt8.self),
            count: value.mv_size
        )
        do {
            try handle.lending {
                var span = unsafe buffer.mutableSpan
                try fill(&span)
            }
        } catch {
            unsafe handle.writing?.pointee.hasUnfilledValue = true
            throw error
        }
    }

    /// Removes `key`.
    ///
    /// O(log n).
    ///
    /// The bytes stay readable in the file until their page is used again.
    ///
    /// - Returns: Whether the table had it.
    /// - Throws: ``LMDBError``.
    /// - Precondition: No bytes of this transaction are lent.
    @available(*, noasync)
    package func delete(_ table: Table, _ key: Key) throws(LMDBError) -> Bool {
        let number = changing(table)
        let code = unsafe key.withValue { unsafe mdb_del(handle.pointer, number, $0, nil) }
        if code == MDB_NOTFOUND { return false }
        try check(code, "mdb_del")
        return true
    }

    /// Removes all entries and keeps the table.
    ///
    /// O(pages).
    ///
    /// - Throws: ``LMDBError``.
    /// - Precondition: No bytes of this transaction are lent.
    @available(*, noasync)
    package func clear(_ table: Table) throws(LMDBError) {
        let number = changing(table)
        try check(unsafe mdb_drop(handle.pointer, number, 0), "mdb_drop")
    }

    private func put(
        _ table: Table,
        _ key: Key,
        _ value: Span<UInt8>,
        flags: UInt32
    ) throws(LMDBError) {
        let number = changing(table)
        let code = unsafe value.withUnsafeBytes { bytes in
            var value = unsafe MDB_val(
                mv_size: bytes.count,
                mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            )
            return unsafe key.withValue { key in
                unsafe mdb_put(handle.pointer, number, key, &value, flags)
            }
        }
        try check(code, "mdb_put")
    }

    /// The number of a table that is about to change.
    private func changing(_ table: Table) -> MDB_dbi {
        let lentCount = unsafe handle.writing?.pointee.lentCount ?? 0
        precondition(lentCount == 0, "nothing changes while bytes of the transaction are lent")
        return handle.number(of: table)
    }
}
