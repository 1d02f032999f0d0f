// Unsafe: calls that fill local structures, on an environment that the gate keeps open for them; the
// room that is tried is given back in the same place.
//
// The size of the map and of the file, its numbers, and copies of it.

internal import CLMDB

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Environment {
    /// The sizes and limits of an open environment.
    package struct Statistics: Sendable, Equatable {
        /// The size of the map, in bytes.
        package var mapSize = 0
        /// The number of the last page that was ever used.
        package var lastPageNumber = 0
        /// The size of a page, in bytes.
        package var pageSize = 0
        /// The reader slots taken in all processes; this one's idle slots, kept for reuse, count.
        package var readersInUse = 0
        /// The reader slots that exist.
        package var maximumReaders = 0
        /// Commits since the oldest state that a reader of any process looks at; 0: nobody looks.
        package var oldestReaderCommits = 0
        /// Whether a commit is on the disk when it returns.
        package var isSynchronous = false
    }

    /// The numbers of now, all 0 after ``close()``.
    package var statistics: Statistics {
        var statistics = Statistics()
        do { try gate.enter() } catch { return statistics }
        defer { gate.leave() }
        do { try requireOpen() } catch { return statistics }
        var info = unsafe MDB_envinfo()
        var stat = MDB_stat()
        // Both fail only for a null environment.
        guard unsafe mdb_env_info(pointer, &info) == MDB_SUCCESS,
            unsafe mdb_env_stat(pointer, &stat) == MDB_SUCCESS
        else { return statistics }
        statistics.mapSize = unsafe info.me_mapsize
        statistics.lastPageNumber = unsafe info.me_last_pgno
        statistics.pageSize = Int(stat.ms_psize)
        var flags: UInt32 = 0
        // Fails only for a null environment.
        if unsafe mdb_env_get_flags(pointer, &flags) == MDB_SUCCESS {
            statistics.isSynchronous = flags & UInt32(MDB_NOSYNC) == 0
        }
        statistics.maximumReaders = unsafe Int(info.me_maxreaders)
        let readers = readerSlots()
        statistics.readersInUse = readers.count
        // A reader may begin behind a commit that was made since the numbers were read.
        statistics.oldestReaderCommits = unsafe max(
            0,
            info.me_last_txnid - (readers.oldest ?? info.me_last_txnid)
        )
        return statistics
    }

    /// The bytes up to the last page that was ever used; 0 after ``close()``.
    package var usedByteCount: Int {
        do { try gate.enter() } catch { return 0 }
        defer { gate.leave() }
        do { try requireOpen() } catch { return 0 }
        var info = unsafe MDB_envinfo()
        var stat = MDB_stat()
        guard unsafe mdb_env_info(pointer, &info) == MDB_SUCCESS,
            unsafe mdb_env_stat(pointer, &stat) == MDB_SUCCESS
        else { return 0 }
        return unsafe (info.me_last_pgno + 1) * Int(stat.ms_psize)
    }

    /// Less room than this and a write that fell short met a full disk.
    private static var leastRoom: UInt64 { 1 << 20 }

    /// Whether the file system of the data file has hardly any room left.
    var isDiskFull: Bool {
        var descriptor: mdb_filehandle_t = -1
        var room = statvfs()
        guard unsafe mdb_env_get_fd(pointer, &descriptor) == MDB_SUCCESS,
            unsafe fstatvfs(descriptor, &room) == 0
        else { return false }
        return UInt64(room.f_bavail) * UInt64(room.f_frsize) < Self.leastRoom
    }

    /// Gives the map a larger size, when no transaction of this process is open.
    ///
    /// Waits for open transactions and holds new ones back. The other processes learn of it when
    /// they begin their next transaction after the next commit. A size smaller than what the file
    /// uses becomes that. Where the system gives no address space for the larger map beside the
    /// present one, that one stays as it is.
    ///
    /// - Parameter mapSize: Bytes, a multiple of the page size.
    /// - Throws: ``LMDBError``; kind `mapFull` where there is no address space.
    /// - Precondition: This thread has no transaction open.
    package func grow(toMapSize mapSize: Int) throws(LMDBError) {
        precondition(mapSize > 0, "a map has a size")
        guard Self.hasAddressSpace(mapSize) else {
            throw LMDBError(
                code: ENOMEM,
                operation: "grow",
                message: "the map is full, and the system gives no address space for a larger one",
                kind: .mapFull
            )
        }
        let isDone = try setMapSize(mapSize)
        guard isDone else {
            throw LMDBError(
                code: EBUSY,
                operation: "grow",
                message: "the environment is closed, or this thread has a transaction open",
                kind: .other
            )
        }
    }

    /// Sets the size alone; false if that is not possible here.
    ///
    /// LMDB gives the old map up before it asks for the new one. Where it gets none, the
    /// environment is closed, for its next transaction would read at address 0.
    func setMapSize(_ mapSize: Int) throws(LMDBError) -> Bool {
        let outcome = gate.alone {
            isBroken ? MDB_PANIC : unsafe mdb_env_set_mapsize(pointer, mapSize)
        }
        guard let code = outcome else { return false }
        if code != MDB_SUCCESS, code != MDB_PANIC { close() }
        try check(code, "mdb_env_set_mapsize")
        return true
    }

    /// Whether the system would map so many bytes more.
    private static func hasAddressSpace(_ bytes: Int) -> Bool {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let start = unsafe mmap(nil, bytes, PROT_NONE, Int32(flags), -1, 0),
            unsafe start != MAP_FAILED
        else { return false }
        unsafe munmap(start, bytes)
        return true
    }

    /// Waits until everything committed is on the disk, also where commits do not wait for it.
    ///
    /// - Throws: ``LMDBError``; kind `notPermitted` if the environment is read-only.
    package func sync() throws(LMDBError) {
        try gate.enter()
        defer { gate.leave() }
        try requireOpen()
        try check(unsafe mdb_env_sync(pointer, 1), "mdb_env_sync")
    }

    /// Makes the data file at least this long with zeros, so that commits need not lengthen it.
    ///
    /// It never shortens the file. The zeros are written, not only allowed for: a commit into a
    /// hole would have to wait for its allocation. They are on the disk after the next commit.
    ///
    /// - Parameter bytes: The length, in bytes.
    /// - Throws: ``LMDBError``; what was written until then stays.
    /// - Precondition: This thread is not writing to this environment.
    package func preextend(toBytes bytes: Int) throws(LMDBError) {
        try changingFile { (descriptor, length) throws(LMDBError) in
            let zeros = [UInt8](repeating: 0, count: Self.zeroByteCount)
            var end = length
            while end < bytes {
                let count = min(zeros.count, bytes - end)
                let written = unsafe zeros.withUnsafeBytes {
                    unsafe pwrite(descriptor, $0.baseAddress, count, off_t(end))
                }
                guard written > 0 else { throw LMDBError(code: errno, operation: "pwrite") }
                end += written
            }
        }
    }

    /// Cuts off what ``preextend(toBytes:)`` added and no commit has used.
    ///
    /// - Throws: ``LMDBError``.
    /// - Precondition: This thread is not writing to this environment.
    package func trim() throws(LMDBError) {
        try changingFile { (descriptor, length) throws(LMDBError) in
            let used = usedByteCount
            guard used > 0, used < length else { return }
            guard ftruncate(descriptor, off_t(used)) == 0 else {
                throw LMDBError(code: errno, operation: "ftruncate")
            }
        }
    }

    /// Lends the data file and its length while nobody commits.
    private func changingFile(
        _ body: (_ descriptor: Int32, _ length: Int) throws(LMDBError) -> Void
    ) throws(LMDBError) {
        let transaction = try beginWriting()
        defer {
            unsafe mdb_txn_abort(transaction.pointer)
            gate.leave()
        }
        var descriptor: mdb_filehandle_t = -1
        try check(unsafe mdb_env_get_fd(pointer, &descriptor), "mdb_env_get_fd")
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw LMDBError(code: errno, operation: "fstat")
        }
        try body(descriptor, Int(status.st_size))
    }

    /// Zeros that are written at once.
    private static var zeroByteCount: Int { 1 << 20 }

    /// Copies one snapshot into the existing, empty directory at `path`, page by page.
    ///
    /// Free pages are copied too. Writers wait only while the first two pages are copied.
    ///
    /// - Throws: ``LMDBError``; its code is `EEXIST` if there is a data file already.
    /// - Precondition: This thread is not writing to this environment.
    package func copy(to path: String) throws(LMDBError) {
        try gate.enter(isWriting: true)
        defer { gate.leave() }
        try requireOpen()
        try check(unsafe mdb_env_copy2(pointer, path, 0), "mdb_env_copy2")
    }
}
