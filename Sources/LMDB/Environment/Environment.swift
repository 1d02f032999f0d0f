// Unsafe: the environment's pointer, which this object alone owns: each that was made is closed once,
// when no transaction is open.
//
// A directory of tables: opening, closing, and its tables.

internal import CLMDB
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An LMDB environment: a directory with a memory-mapped B-tree file and a lock file.
///
/// Any number of threads read while one writes, in this process and others; readers never block.
/// A long read keeps old pages from being used again, so a reader should live for seconds only.
/// `MDB_WRITEMAP` is never used: a full disk would end the process by `SIGBUS`.
///
/// Unchecked: LMDB's environment may be shared between threads; `gate` keeps apart what may not
/// run beside transactions, as what replaces each `var`, and `tables` its handles.
@safe
package final class Environment: @unchecked Sendable {
    /// How to open an environment.
    package struct Options: Sendable {
        /// The size of the map in bytes: the limit of the file, which stays sparse (64 GiB).
        ///
        /// A larger size that the file was used with before wins.
        package var mapSize: Int
        /// The most named tables that can be open (16).
        package var maximumTables: Int
        /// The reader slots of the lock file (1 024); who makes the lock file decides.
        package var maximumReaders: Int
        /// Whether a commit is on the disk when it returns (true).
        ///
        /// Without it an unclean stop of the *machine* may leave a damaged file.
        package var isSynchronous: Bool
        /// Whether the environment refuses to write (false).
        package var isReadOnly: Bool
        /// Whether what a failed write of its first pages has left unusable is opened again by the next
        /// transaction (false): for who keeps nothing that follows from what that write came to.
        package var isMended: Bool
        /// The permissions of files that are made (0600).
        package var fileMode: UInt16

        /// The usual options, or those that differ from them.
        package init(
            mapSize: Int = 64 << 30,
            maximumTables: Int = 16,
            maximumReaders: Int = 1024,
            isSynchronous: Bool = true,
            isReadOnly: Bool = false,
            isMended: Bool = false,
            fileMode: UInt16 = 0o600
        ) {
            self.mapSize = mapSize
            self.maximumTables = maximumTables
            self.maximumReaders = maximumReaders
            self.isSynchronous = isSynchronous
            self.isReadOnly = isReadOnly
            self.isMended = isMended
            self.fileMode = fileMode
        }
    }

    /// Replaced while nobody is inside the gate.
    private(set) var pointer: OpaquePointer
    /// Whether it is closed, or was to be opened again and could not be.
    private(set) var isBroken = false
    /// How often it was opened again.
    private(set) var openings = 0
    private let options: Options
    /// The directory's canonical path.
    let path: String
    let number = OpenEnvironments.nextNumber()
    let gate = TransactionGate()
    private(set) var readers: ReaderPool
    private let tables = Mutex<[String: Table]>([:])
    /// The number of the page at which commits look for dead readers again.
    let pageOfNextLook = Atomic<Int>(0)

    /// Opens the environment in an existing directory.
    ///
    /// - Throws: ``LMDBError``; kind `notFound` if there is no such directory (or, read-only, no
    ///   data file), `alreadyOpen` if this process has it open, `invalid` if it is damaged.
    package init(path: String, options: Options) throws(LMDBError) {
        let canonical = try OpenEnvironments.reserve(path)
        do {
            unsafe pointer = try unsafe Environment.open(canonical, options)
        } catch {
            OpenEnvironments.release(canonical)
            throw error
        }
        self.path = canonical
        self.options = options
        readers = unsafe ReaderPool(environment: pointer)
    }

    deinit {
        close()
    }

    /// Whether this thread has a transaction open.
    package var isInTransaction: Bool { gate.isHeldHere }

    /// Waits for the transactions of this process, then closes; closing twice does nothing.
    ///
    /// Transactions afterwards throw ``LMDBError``.
    ///
    /// - Precondition: This thread has no transaction open.
    package func close() {
        precondition(!gate.isHeldHere, "an environment is not closed within its transaction")
        _ = gate.alone(closing: true) {
            closeFile()
            OpenEnvironments.release(path)
        }
    }

    private func closeFile() {
        guard !isBroken else { return }
        readers.drain()
        unsafe mdb_env_close(pointer)
        isBroken = true
    }

    /// Whether the file is open, for who is inside the gate.
    ///
    /// - Throws: ``LMDBError`` of kind `panicked`: it was to be opened again, and could not be.
    func requireOpen() throws(LMDBError) {
        guard isBroken else { return }
        throw LMDBError(code: MDB_PANIC, operation: "mdb_env_open")
    }

    /// Opens the file again that refuses everything since its first pages could not be written, with the
    /// same tables.
    ///
    /// `opening`: the one that was met; where somebody was faster nothing is done.
    ///
    /// - Returns: false if it is not to be, or this thread has a transaction open.
    /// - Throws: ``LMDBError`` where it cannot be opened: the next transaction tries it again.
    func mend(_ opening: Int) throws(LMDBError) -> Bool {
        guard options.isMended else { return false }
        let outcome = gate.alone { () -> LMDBError? in
            guard isBroken || openings == opening else { return nil }
            closeFile()
            do throws(LMDBError) {
                unsafe pointer = try unsafe Environment.open(path, options)
                readers = unsafe ReaderPool(environment: pointer)
                isBroken = false
                openings += 1
                try reopenTables()
            } catch {
                closeFile()
                return error
            }
            return nil
        }
        guard let outcome else { return false }
        if let fault = outcome { throw fault }
        return true
    }

    /// Opens the tables that are known in the order of their handles, which LMDB gives one by one.
    private func reopenTables() throws(LMDBError) {
        var transaction: OpaquePointer?
        let flags = UInt32(MDB_RDONLY)
        try check(unsafe mdb_txn_begin(pointer, nil, flags, &transaction), "mdb_txn_begin")
        for (name, table) in tables.withLock({ $0.sorted { $0.value.handle < $1.value.handle } }) {
            var handle: MDB_dbi = 0
            let code = unsafe mdb_dbi_open(transaction, name, 0, &handle)
            guard code == MDB_SUCCESS, handle == table.handle else {
                unsafe mdb_txn_abort(transaction)
                throw LMDBError(
                    code: code == MDB_SUCCESS ? MDB_INVALID : code,
                    operation: "mdb_dbi_open"
                )
            }
        }
        try check(unsafe mdb_txn_commit(transaction), "mdb_txn_commit")
    }

    /// The table of this name, made if `create` says so.
    ///
    /// It is opened once in its own transaction and kept. Making a table is a write transaction.
    ///
    /// - Returns: `nil` if the table does not exist and `create` is false.
    /// - Throws: ``LMDBError``.
    /// - Precondition: Not called within a write transaction if the table has to be made.
    package func table(_ name: String, create: Bool) throws(LMDBError) -> Table? {
        if let existing = try openTable(name, isMade: false) { return existing }
        return create ? try openTable(name, isMade: true) : nil
    }

    private func openTable(_ name: String, isMade: Bool) throws(LMDBError) -> Table? {
        while true {
            let (known, count) = tables.withLock { ($0[name], $0.count) }
            if let known { return known }
            if let opened = try openTable(name, isMade: isMade, beside: count) { return opened }
        }
    }

    /// Opens a table in a transaction that begins here.
    ///
    /// LMDB gives the handle that was free when the transaction began: where another table was opened
    /// since, both would have the same.
    ///
    /// `count`: of the tables that were known before.
    ///
    /// - Returns: `nil` if another one was opened since, `.some(nil)` if there is no such table.
    /// - Throws: ``LMDBError``.
    private func openTable(
        _ name: String,
        isMade: Bool,
        beside count: Int
    ) throws(LMDBError) -> Table?? {
        let transaction = try isMade ? beginWriting() : beginReading()
        defer { gate.leave() }
        // mdb_dbi_open: one transaction of the process at a time, until that one has ended.
        return try tables.withLock { (known) throws(LMDBError) -> Table?? in
            guard known.count == count else {
                unsafe mdb_txn_abort(transaction.pointer)
                return nil
            }
            var handle: MDB_dbi = 0
            let flags = isMade ? UInt32(MDB_CREATE) : 0
            let code = unsafe mdb_dbi_open(transaction.pointer, name, flags, &handle)
            guard code == MDB_SUCCESS else {
                unsafe mdb_txn_abort(transaction.pointer)
                guard code == MDB_NOTFOUND else {
                    throw LMDBError(code: code, operation: "mdb_dbi_open")
                }
                return .some(nil)
            }
            try check(unsafe mdb_txn_commit(transaction.pointer), "mdb_txn_commit")
            let table = Table(handle: handle, environment: number)
            known[name] = table
            return table
        }
    }

    private static func open(
        _ path: String,
        _ options: Options
    ) throws(LMDBError) -> OpaquePointer {
        var made: OpaquePointer?
        try check(unsafe mdb_env_create(&made), "mdb_env_create")
        guard let environment = unsafe made else {
            preconditionFailure("an environment that was made has an address")
        }
        do {
            try unsafe configure(environment, options)
            var flags = MDB_NOTLS
            if !options.isSynchronous { flags |= MDB_NOSYNC }
            if options.isReadOnly { flags |= MDB_RDONLY }
            let code = unsafe mdb_env_open(
                environment,
                path,
                UInt32(flags),
                mdb_mode_t(options.fileMode)
            )
            try checkOpening(code, options)
            // Slots of processes that were killed keep their pages until they are cleared.
            try check(unsafe mdb_reader_check(environment, nil), "mdb_reader_check")
        } catch {
            unsafe mdb_env_close(environment)
            throw error
        }
        return unsafe environment
    }

    private static func configure(
        _ environment: OpaquePointer,
        _ options: Options
    ) throws(LMDBError) {
        precondition(options.mapSize > 0, "a map has a size")
        precondition(options.maximumTables > 0, "at least one table")
        precondition(options.maximumReaders > 0, "at least one reader")
        try check(
            unsafe mdb_env_set_mapsize(environment, options.mapSize),
            "mdb_env_set_mapsize"
        )
        try check(
            unsafe mdb_env_set_maxdbs(environment, UInt32(options.maximumTables)),
            "mdb_env_set_maxdbs"
        )
        try check(
            unsafe mdb_env_set_maxreaders(environment, UInt32(options.maximumReaders)),
            "mdb_env_set_maxreaders"
        )
    }

    private static func checkOpening(_ code: Int32, _ options: Options) throws(LMDBError) {
        guard options.isReadOnly, code == EACCES else { return try check(code, "mdb_env_open") }
        throw LMDBError(
            code: code,
            operation: "mdb_env_open",
            message: "reading needs write permission for lock.mdb, where LMDB keeps its readers "
                + "(unless the file system is read-only)",
            kind: .notPermitted
        )
    }
}
