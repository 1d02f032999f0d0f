// Unsafe: pointers to transactions that were reset; a lock hands each to one reader at a time, and
// each is ended before the environment is closed.
//
// Reader slots are kept: renewing a reset transaction takes no lock of the lock file.

internal import CLMDB
internal import Synchronization

/// A transaction of LMDB that one thread at a time owns.
///
/// Unchecked: with `MDB_NOTLS` a read transaction may move between threads; a write transaction
/// never leaves the function that begins it.
@safe
struct TransactionPointer: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// The read transactions of an environment that are reset and wait for their next use.
@safe
final class ReaderPool: @unchecked Sendable {
    /// More idle readers than this are given back.
    private static let idleLimit = 64

    private let environment: OpaquePointer
    private let idle = Mutex<[TransactionPointer]>([])

    init(environment: OpaquePointer) {
        unsafe self.environment = unsafe environment
    }

    /// A transaction on the newest snapshot.
    ///
    /// - Throws: ``LMDBError`` of kind `mapResized`, `readersFull` or of any other.
    func take() throws(LMDBError) -> TransactionPointer {
        guard let kept = idle.withLock({ $0.popLast() }) else { return try begin() }
        let code = unsafe mdb_txn_renew(kept.pointer)
        guard code == MDB_SUCCESS else {
            unsafe mdb_txn_abort(kept.pointer)
            throw LMDBError(code: code, operation: "mdb_txn_renew")
        }
        return kept
    }

    /// Ends the snapshot and keeps the reader slot.
    func put(_ transaction: TransactionPointer) {
        unsafe mdb_txn_reset(transaction.pointer)
        let isKept = idle.withLock { idle in
            guard idle.count < ReaderPool.idleLimit else { return false }
            idle.append(transaction)
            return true
        }
        if !isKept { unsafe mdb_txn_abort(transaction.pointer) }
    }

    /// Gives all idle reader slots back, before the environment closes.
    func drain() {
        let transactions = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        for transaction in transactions { unsafe mdb_txn_abort(transaction.pointer) }
    }

    private func begin() throws(LMDBError) -> TransactionPointer {
        var transaction: OpaquePointer?
        var code = unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Slots of processes that were killed stay taken until somebody looks.
            try check(unsafe mdb_reader_check(environment, nil), "mdb_reader_check")
            code = unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        }
        try check(code, "mdb_txn_begin")
        guard let pointer = unsafe transaction else {
            preconditionFailure("a transaction that began has an address")
        }
        return unsafe TransactionPointer(pointer: pointer)
    }
}
