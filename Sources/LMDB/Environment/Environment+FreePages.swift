// Unsafe: a cursor of the transaction that is open, closed before it ends; the number that it finds
// is copied after its length was looked at.
//
// What commits have given up stays readable in the file until its pages are used again.

internal import CLMDB

extension Environment {
    /// The table of free pages: LMDB's own, by the transaction that freed them.
    private static let freePages: MDB_dbi = 0
    /// What stands before a value on a page of its own.
    private static let pageHeaderByteCount = 16
    /// Pages that one commit fills.
    private static let pagesPerCommit = 256

    /// Fills the pages that commits have freed until now with zeros, as values of a table that is
    /// for this alone and is empty afterwards.
    ///
    /// Pages that a reader of an older state may still look at are left as they are.
    ///
    /// Cost: a write for each free page; the file grows by few pages.
    ///
    /// - Parameter blanks: A table without entries.
    /// - Returns: Whether all of them are filled; false: a reader keeps some, try again.
    /// - Throws: ``LMDBError``.
    /// - Precondition: This thread is not using this environment.
    @available(*, noasync)
    package func blankFreePages(using blanks: Table) throws -> Bool {
        let blank = [UInt8](repeating: 0, count: statistics.pageSize - Self.pageHeaderByteCount)
        var next: UInt64 = 0
        func fill(_ count: Int) throws -> Int {
            try write { transaction in
                for _ in 0..<count {
                    try transaction.put(blanks, Key(next), blank.span)
                    next += 1
                }
                return unsafe mdb_txn_id(transaction.handle.pointer)
            }
        }
        // Blanks that stay are cleared by the next call.
        defer { try? write { try $0.clear(blanks) } }
        // LMDB uses what a commit has freed in the next but one.
        let last = try fill(1)
        _ = try fill(1)
        // What a reader keeps cannot be filled, and every attempt would lengthen the file.
        if try hasReaders(upTo: last) { return false }
        while try hasPages(freedUpTo: last) {
            let end = statistics.lastPageNumber
            _ = try fill(Self.pagesPerCommit)
            // Where the file grows by all of it, a reader keeps what is free.
            if statistics.lastPageNumber >= end + Self.pagesPerCommit {
                return try !hasPages(freedUpTo: last)
            }
        }
        return true
    }

    /// Whether somebody looks at the state that a transaction up to this one has made.
    private func hasReaders(upTo last: Int) throws(LMDBError) -> Bool {
        try gate.enter()
        defer { gate.leave() }
        try requireOpen()
        return readerSlots().oldest.map { $0 <= last } ?? false
    }

    /// Whether a page is free that a transaction up to this one has freed.
    private func hasPages(freedUpTo last: Int) throws -> Bool {
        try read { transaction in
            var cursor: OpaquePointer?
            try check(
                unsafe mdb_cursor_open(transaction.handle.pointer, Self.freePages, &cursor),
                "mdb_cursor_open"
            )
            defer { unsafe mdb_cursor_close(cursor) }
            var key = unsafe MDB_val()
            var value = unsafe MDB_val()
            let code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
            if code == MDB_NOTFOUND { return false }
            try check(code, "mdb_cursor_get")
            guard unsafe key.mv_size == MemoryLayout<Int>.size, let start = unsafe key.mv_data
            else { return false }
            return unsafe start.loadUnaligned(as: Int.self) <= last
        }
    }
}
