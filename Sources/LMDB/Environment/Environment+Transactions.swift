// Unsafe: a transaction's pointer is lent to one closure, and every path ends it exactly once.
//
// Beginning and ending transactions.

internal import CLMDB

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Environment {
    /// How often one begin follows a map that another process enlarges.
    private static var adoptionLimit: Int { 8 }

    /// Lends a snapshot of the newest commit to `body`.
    ///
    /// Costs two uncontended locks; the reader slot is kept for the next read. Reads may nest, each
    /// with its own snapshot.
    ///
    /// - Throws: ``LMDBError``, or what `body` throws.
    @available(*, noasync)
    package func read<Result>(
        _ body: (borrowing ReadTransaction) throws -> Result
    ) throws -> Result {
        let transaction = try beginReading()
        defer {
            readers.put(transaction)
            gate.leave()
        }
        return try unsafe body(
            ReadTransaction(
                handle: TransactionHandle(
                    pointer: transaction.pointer,
                    environment: number,
                    writing: nil
                )
            )
        )
    }

    /// Lends the write transaction to `body`, commits if it returns and aborts if it throws.
    ///
    /// Waits for the writer of any other thread or process.
    ///
    /// - Throws: ``LMDBError``, also if the commit fails (then nothing was written), or what `body`
    ///   throws.
    /// - Precondition: This thread is not writing to this environment already.
    @available(*, noasync)
    package func write<Result>(
        _ body: (borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        let transaction = try beginWriting()
        defer { gate.leave() }
        var state = WriteState()
        let result: Result
        do {
            result = try unsafe withUnsafeMutablePointer(to: &state) { state in
                try unsafe body(
                    WriteTransaction(
                        handle: TransactionHandle(
                            pointer: transaction.pointer,
                            environment: number,
                            writing: state
                        )
                    )
                )
            }
        } catch {
            unsafe mdb_txn_abort(transaction.pointer)
            throw error
        }
        try commit(transaction, state)
        clearDeadReaders()
        return result
    }

    /// Lends the write transaction as ``write(_:)`` does; where the map is full it is given more
    /// room, and `body` runs once more from the start.
    ///
    /// `growth`: bytes, a multiple of the page size, and more than one transaction writes.
    ///
    /// `body`: must bear being run twice.
    ///
    /// - Throws: As ``write(_:)`` does; kind `mapFull` if there is no more room to be had: the
    ///   environment can still be used, and the next call asks again.
    @available(*, noasync)
    package func write<Result>(
        growingBy growth: Int,
        _ body: (borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        do {
            return try write(body)
        } catch let error as LMDBError where error.kind == .mapFull {
            try grow(toMapSize: statistics.mapSize + growth)
            return try write(body)
        }
    }

    private func commit(
        _ transaction: TransactionPointer,
        _ state: WriteState
    ) throws(LMDBError) {
        guard !state.hasUnfilledValue else {
            unsafe mdb_txn_abort(transaction.pointer)
            throw LMDBError(
                code: MDB_BAD_TXN,
                operation: "commit",
                message: "a reserved value was not filled",
                kind: .other
            )
        }
        let code = unsafe mdb_txn_commit(transaction.pointer)
        // A short write is a full disk under another name.
        try check(code == EIO && isDiskFull ? ENOSPC : code, "mdb_txn_commit")
    }

    /// Enters the gate and begins; the caller ends the transaction and leaves.
    func beginReading() throws(LMDBError) -> TransactionPointer {
        try begin(isWriting: false) { () throws(LMDBError) in try readers.take() }
    }

    /// Enters the gate and begins; the caller ends the transaction and leaves.
    func beginWriting() throws(LMDBError) -> TransactionPointer {
        try begin(isWriting: true) { () throws(LMDBError) in
            var transaction: OpaquePointer?
            try check(unsafe mdb_txn_begin(pointer, nil, 0, &transaction), "mdb_txn_begin")
            guard let pointer = unsafe transaction else {
                preconditionFailure("a transaction that began has an address")
            }
            return unsafe TransactionPointer(pointer: pointer)
        }
    }

    private func begin(
        isWriting: Bool,
        _ body: () throws(LMDBError) -> TransactionPointer
    ) throws(LMDBError) -> TransactionPointer {
        var adoptions = 0
        var isMended = false
        while true {
            try gate.enter(isWriting: isWriting)
            let opening = openings
            do {
                try requireOpen()
                return try body()
            } catch {
                gate.leave()
                if error.kind == .panicked, !isMended {
                    isMended = true
                    if try mend(opening) { continue }
                }
                guard error.kind == .mapResized else { throw error }
                guard adoptions < Environment.adoptionLimit else {
                    // The map has the size that the meta page states, and its last page lies beyond.
                    throw LMDBError(code: MDB_INVALID, operation: error.operation)
                }
                adoptions += 1
                try adoptMapSize(after: error)
            }
        }
    }

    /// Takes over the size that another process gave the map.
    private func adoptMapSize(after error: LMDBError) throws(LMDBError) {
        guard try setMapSize(0) else { throw error }
    }
}
