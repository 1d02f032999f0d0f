// Unsafe: calls into libsqlite3 with pointers that live for the call, or for the object that owns
// them; what is bound is copied by SQLite before the call returns.

import CSQLite

/// A new SQLite database that one thread writes.
@safe
package final class Database {
    private let handle: OpaquePointer

    /// A value of a column.
    package enum Value: Sendable, Hashable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob([UInt8])
    }

    /// Makes or opens the file.
    ///
    /// - Throws: `DatabaseFault`.
    package init(path: String) throws(DatabaseFault) {
        var handle: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            path,
            &handle,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
            nil
        )
        guard code == SQLITE_OK, let handle = unsafe handle else {
            unsafe _ = sqlite3_close_v2(handle)
            throw DatabaseFault(code: code)
        }
        unsafe self.handle = handle
    }

    deinit { unsafe _ = sqlite3_close_v2(handle) }

    /// Runs statements that give nothing back.
    ///
    /// - Throws: `DatabaseFault`.
    package func run(_ sql: String) throws(DatabaseFault) {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Makes a statement that is to be run several times.
    ///
    /// - Throws: `DatabaseFault`.
    package func prepare(_ sql: String) throws(DatabaseFault) -> Statement {
        var statement: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        guard let statement = unsafe statement else { throw DatabaseFault(code: SQLITE_ERROR) }
        return unsafe Statement(statement, of: self)
    }

    private func check(_ code: Int32) throws(DatabaseFault) {
        guard code == SQLITE_OK else { throw DatabaseFault(code: code) }
    }

    /// A statement with places for values.
    @safe
    package final class Statement {
        private let handle: OpaquePointer
        /// Kept open as long as its statements.
        private let database: Database

        fileprivate init(_ handle: OpaquePointer, of database: Database) {
            unsafe self.handle = handle
            self.database = database
        }

        deinit { unsafe _ = sqlite3_finalize(handle) }

        /// Runs it with a value for each place.
        ///
        /// - Throws: `DatabaseFault`.
        package func run(_ values: [Value]) throws(DatabaseFault) {
            for (index, value) in values.enumerated() {
                try database.check(bind(value, at: Int32(index + 1)))
            }
            let code = unsafe sqlite3_step(handle)
            guard code == SQLITE_DONE else { throw DatabaseFault(code: code) }
            try database.check(unsafe sqlite3_reset(handle))
        }

        private func bind(_ value: Value, at place: Int32) -> Int32 {
            // SQLITE_TRANSIENT: what is bound is copied in the call.
            let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            switch value {
            case .null: return unsafe sqlite3_bind_null(handle, place)
            case .integer(let number): return unsafe sqlite3_bind_int64(handle, place, number)
            case .real(let number): return unsafe sqlite3_bind_double(handle, place, number)
            case .text(let text):
                // Text of no bytes still has an address.
                let bytes = Array(text.utf8) + [0]
                return unsafe bytes.withUnsafeBytes { buffer in
                    let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                    return unsafe sqlite3_bind_text64(
                        handle,
                        place,
                        start,
                        UInt64(buffer.count - 1),
                        copied,
                        UInt8(SQLITE_UTF8)
                    )
                }
            case .blob(let bytes):
                guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(handle, place, 0) }
                return unsafe bytes.withUnsafeBytes { buffer in
                    unsafe sqlite3_bind_blob64(
                        handle,
                        place,
                        buffer.baseAddress,
                        UInt64(buffer.count),
                        copied
                    )
                }
            }
        }
    }
}

/// A call of SQLite that failed.
package struct DatabaseFault: Error, Sendable, Hashable {
    /// SQLite's result code.
    package var code: Int32
}
