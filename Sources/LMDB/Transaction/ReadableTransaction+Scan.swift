// Unsafe: a cursor that is closed before its transaction ends; keys and values are lent as spans to
// one call, while nothing may write.
//
// Walking a table in the order of its keys.

internal import CLMDB

extension ReadableTransaction where Self: ~Copyable {
    /// Lends every entry to `body`, ascending from the first key that is not before `start`.
    ///
    /// - Parameters:
    ///   - table: The table to walk.
    ///   - start: Where to begin; `nil` is the first key.
    ///   - body: Is lent key and value; stops the walk by returning false.
    /// - Throws: ``LMDBError``, of kind `invalid` if a damaged file leads in circles, or what `body`
    ///   throws.
    @available(*, noasync)
    package func scan(
        _ table: Table,
        from start: Key?,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
    ) throws {
        try handle.walk(table, from: start, .ascending, body)
    }

    /// Lends every entry to `body`, descending from the last key that is not after `start`.
    ///
    /// - Parameters:
    ///   - table: The table to walk.
    ///   - start: Where to begin; `nil` is the last key.
    ///   - body: Is lent key and value; stops the walk by returning false.
    /// - Throws: ``LMDBError``, of kind `invalid` if a damaged file leads in circles, or what `body`
    ///   throws.
    @available(*, noasync)
    package func scanBackward(
        _ table: Table,
        from start: Key?,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
    ) throws {
        try handle.walk(table, from: start, .descending, body)
    }

    /// Lends the entry with the lowest key to `body`.
    ///
    /// - Returns: What `body` returns, or `nil` if the table is empty. O(log n).
    /// - Throws: ``LMDBError``, or what `body` throws.
    @available(*, noasync)
    package func first<Result>(
        _ table: Table,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Result
    ) throws -> Result? {
        try handle.end(table, .ascending, body)
    }

    /// Lends the entry with the highest key to `body`.
    ///
    /// - Returns: What `body` returns, or `nil` if the table is empty. O(log n).
    /// - Throws: ``LMDBError``, or what `body` throws.
    @available(*, noasync)
    package func last<Result>(
        _ table: Table,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Result
    ) throws -> Result? {
        try handle.end(table, .descending, body)
    }
}

/// The order of a walk.
private enum Direction {
    case ascending
    case descending

    var begin: MDB_cursor_op { self == .ascending ? MDB_FIRST : MDB_LAST }
    var step: MDB_cursor_op { self == .ascending ? MDB_NEXT : MDB_PREV }
}

extension TransactionHandle {
    fileprivate func walk(
        _ table: Table,
        from start: Key?,
        _ direction: Direction,
        _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
    ) throws {
        // A cursor that is led in circles by a damaged page visits more than there is.
        let limit = try count(table) + 1
        try withCursor(table) { cursor in
            var entry = try unsafe cursor.begin(start, direction)
            var visitedCount = 0
            while let (key, value) = unsafe entry {
                visitedCount += 1
                guard visitedCount <= limit else { throw Cursor.ranInCircles }
                let goesOn = try lending {
                    try unsafe body(key.buffer.span, value.buffer.span)
                }
                guard goesOn else { return }
                unsafe entry = try unsafe cursor.move(direction.step)
            }
        }
    }

    fileprivate func end<Result>(
        _ table: Table,
        _ direction: Direction,
        _ body: (Span<UInt8>, Span<UInt8>) throws -> Result
    ) throws -> Result? {
        try withCursor(table) { cursor in
            guard let (key, value) = try unsafe cursor.move(direction.begin) else { return nil }
            return try lending {
                try unsafe body(key.buffer.span, value.buffer.span)
            }
        }
    }

    private func withCursor<Result>(
        _ table: Table,
        _ body: (Cursor) throws -> Result
    ) throws -> Result {
        var opened: OpaquePointer?
        let number = number(of: table)
        try check(unsafe mdb_cursor_open(pointer, number, &opened), "mdb_cursor_open")
        guard let cursor = unsafe opened else {
            preconditionFailure("a cursor that was opened has an address")
        }
        defer { unsafe mdb_cursor_close(cursor) }
        return try unsafe body(Cursor(pointer: cursor, transaction: pointer, number: number))
    }
}

/// A place in a table.
@safe
private struct Cursor {
    let pointer: OpaquePointer
    let transaction: OpaquePointer
    let number: MDB_dbi

    static let ranInCircles = LMDBError(
        code: MDB_CORRUPTED,
        operation: "scan",
        message: "cursor ran in circles: more entries than the table has",
        kind: .invalid
    )

    /// The first entry of a walk.
    func begin(
        _ start: Key?,
        _ direction: Direction
    ) throws(LMDBError) -> (MDB_val, MDB_val)? {
        guard let start else { return try unsafe move(direction.begin) }
        let found = try unsafe seek(start)
        guard direction == .descending else { return unsafe found }
        // The last key not after `start` is `start` itself or the one before its successor.
        guard let (key, value) = unsafe found else { return try unsafe move(MDB_LAST) }
        var foundKey = unsafe key
        let order = unsafe start.withValue { unsafe mdb_cmp(transaction, number, $0, &foundKey) }
        return order == 0 ? unsafe (key, value) : try unsafe move(MDB_PREV)
    }

    func move(_ operation: MDB_cursor_op) throws(LMDBError) -> (MDB_val, MDB_val)? {
        var key = unsafe MDB_val()
        var value = unsafe MDB_val()
        let code = unsafe mdb_cursor_get(pointer, &key, &value, operation)
        if code == MDB_NOTFOUND { return nil }
        try check(code, "mdb_cursor_get")
        return unsafe (key, value)
    }

    /// The first entry whose key is not before `start`.
    private func seek(_ start: Key) throws(LMDBError) -> (MDB_val, MDB_val)? {
        var key = unsafe MDB_val()
        var value = unsafe MDB_val()
        let code = unsafe start.withValue { target in
            let code = unsafe mdb_cursor_get(pointer, target, &value, MDB_SET_RANGE)
            unsafe key = unsafe target.pointee
            return code
        }
        if code == MDB_NOTFOUND { return nil }
        try check(code, "mdb_cursor_get")
        return unsafe (key, value)
    }
}
