import DurableFiles
package import EventLog
import LMDB
import Synchronization

/// The log in one synchronous LMDB environment.
///
/// Tables: `bundles` (bundle number → 256 records), `tail` (first sequence → the records of a
/// commit that did not fill a bundle), `companions` (record's sequence → evidence or attachment),
/// `shared` (SHA-256 of a part of evidence → the part), `tiles` (level, index → hashes; of leaves
/// only full ones), `checkpoints` (size → signed note), `newStreams` (stream → entry that the vault
/// takes over), `end`.
package final class LMDBLog: LogStorage {
    let path: String
    private let options: LMDB.Environment.Options
    /// nil: nobody else knows of it, or it is only read.
    private let lock: WriterLock?
    /// Replaced when the log is opened again.
    private let current: Mutex<Current>
    /// Held while the log is opened again; never within a transaction.
    private let opening = Mutex<Void>(())
    /// The tree's writer, made at the first append; dropped when a commit fails.
    let treeWriter = Mutex<TileWriter?>(nil)
    let roomAhead = Mutex(RoomAhead())
    /// The last new stream that the vault has taken over and that stands here yet; 0: none.
    let takenOver = Mutex<UInt64>(0)
    /// Whether a commit that nobody waited for failed, since which the log was not opened again.
    let isInDoubt = Mutex(false)
    /// Whether its use was ended.
    private let isClosed = Atomic(false)

    struct Current {
        var environment: LMDB.Environment
        var tables: Tables
        /// nil: nothing is written to them.
        var files: EnvironmentFiles?

        fileprivate init(
            _ path: String,
            _ options: LMDB.Environment.Options,
            _ lock: WriterLock?
        ) throws {
            environment = try LMDB.Environment(path: path, options: options)
            files = options.isReadOnly ? nil : EnvironmentFiles(at: path)
            do {
                // What is open is what is locked.
                try lock?.checkPlace()
                tables = try Tables(environment, create: !options.isReadOnly)
            } catch {
                environment.close()
                throw error
            }
        }
    }

    struct Tables {
        var bundles, tail, attached, tiles, checkpoints, end: Table
    }

    /// The table of shared parts, which logs of the first programs do not have until they are
    /// written again.
    static let sharedName = "shared"

    /// Where the table `end` holds the recorded time of the last event not imported with its own.
    static let ownKey = Key(2)

    /// A reader lives for at most so many bundles, so that it does not keep old pages alive.
    static let bundlesPerTransaction = 8192

    /// Opens the log in a directory that exists.
    ///
    /// - Throws: `LogStorageFault`; `FileFault` where this user may not open it.
    package convenience init(
        path: String,
        isReadOnly: Bool,
        mapSize: Int = MapSize.usual
    ) throws {
        try self.init(path: path, isReadOnly: isReadOnly, mapSize: mapSize, lock: nil)
    }

    /// `lock`: the writer's, on this log.
    ///
    /// `isSynchronous`: false for a copy that is made again after an unclean stop of the machine.
    init(
        path: String,
        isReadOnly: Bool,
        isSynchronous: Bool = true,
        mapSize: Int,
        lock: WriterLock?
    ) throws {
        self.lock = lock
        self.path = path
        let options = LMDB.Environment.Options(
            mapSize: mapSize,
            isSynchronous: isSynchronous,
            isReadOnly: isReadOnly
        )
        self.options = options
        let opened = try mappingRefusals { try Current(path, options, lock) }
        current = Mutex(opened)
        do {
            try mappingFaults { try checkEnd(of: opened) }
        } catch {
            close()
            throw error
        }
    }

    /// See `LogStorage`.
    package func reopen() throws { try reopen { _ in true } }

    /// `isWanted`: asked of what is open, while nobody else opens it again.
    private func reopen(where isWanted: (LMDB.Environment) -> Bool) throws {
        try opening.withLock { _ in
            guard !isClosed.load(ordering: .relaxed) else {
                throw LogStorageFault(.unreadable, "the log is closed")
            }
            let old = current.withLock { $0 }.environment
            guard isWanted(old) else { return }
            // Waits for readers, who take `current` while they are inside: not under its lock.
            old.close()
            let opened = try mappingFaults { try Current(path, options, lock) }
            do {
                // Before anybody reads from it.
                try mappingFaults { try checkEnd(of: opened) }
            } catch {
                opened.environment.close()
                throw error
            }
            current.withLock { $0 = opened }
            treeWriter.withLock { $0 = nil }
            isInDoubt.withLock { $0 = false }
        }
    }

    /// Waits until everything appended is on the disk, also where appends do not wait for it.
    func sync() throws {
        guard !options.isSynchronous else { return }
        try mappingFaults { try withEnvironment { try $0.environment.sync() } }
    }

    /// Ends the use of the environment.
    package func close() {
        // Nobody opens it again behind this.
        let environment = opening.withLock { _ in
            isClosed.store(true, ordering: .relaxed)
            return current.withLock { $0 }.environment
        }
        if !options.isReadOnly { RoomAhead.giveBack(in: environment) }
        environment.close()
    }

    /// The numbers of its environment; all 0 while it is opened again.
    var statistics: LMDB.Environment.Statistics {
        current.withLock { $0 }.environment.statistics
    }

    /// Lends the environment with its own tables; who comes while it is opened again waits for
    /// the new one.
    ///
    /// What a failed write left unusable is opened again, once: no transaction began in it.
    func withEnvironment<Result>(_ body: (Current) throws -> Result) throws -> Result {
        var opened = current.withLock { $0 }
        var isMended = false
        while true {
            do {
                return try body(opened)
            } catch let error as LMDBError
                where error.kind == .panicked && !isMended && !opened.environment.isInTransaction
            {
                isMended = true
                try reopen { $0 === opened.environment }
                opened = current.withLock { $0 }
            } catch let error as LMDBError where error.kind == .closed {
                let newest = opening.withLock { _ in current.withLock { $0 } }
                if newest.environment === opened.environment {
                    // It was to be opened again, and could not be: a disk may read again by now.
                    guard !isMended, !isClosed.load(ordering: .relaxed) else { throw error }
                    isMended = true
                    try reopen { $0 === opened.environment }
                }
                opened = current.withLock { $0 }
            }
        }
    }

    /// Lends a read transaction and its tables.
    ///
    /// - Throws: `LogStorageFault`, or what `body` throws.
    func read<Result>(
        _ body: (borrowing ReadTransaction, Tables) throws -> Result
    ) throws -> Result {
        try mappingFaults {
            try withEnvironment { opened in
                try opened.environment.read { try body($0, opened.tables) }
            }
        }
    }

    /// See `LogStorage`.
    package func end() throws -> LogEnd {
        try read { try end($0, $1) }
    }

    func end<Transaction: ReadableTransaction & ~Copyable>(
        _ transaction: borrowing Transaction,
        _ tables: Tables
    ) throws -> LogEnd {
        let own = try transaction.get(tables.end, Self.ownKey) { value in
            guard value.count == 8 else {
                throw LogStorageFault(.damaged, "the log's last own time is too short")
            }
            return value.int64(at: 0)
        }
        let end = try transaction.get(tables.end, Key(0)) { value in
            guard value.count > 16 else {
                throw LogStorageFault(.damaged, "the log's end is too short")
            }
            return LogEnd(
                edge: try TreeEdge(decoding: value.extracting(16..<value.count)),
                lastRecordedAt: value.int64(at: 0),
                highestCounter: value.uint64(at: 8),
                lastOwnRecordedAt: own
            )
        }
        guard let end else { return .empty }
        // It is an event's; nothing of the value itself tells whether it is what was written.
        guard end.lastRecordedAt >= own ?? .min else {
            throw LogStorageFault(.damaged, "the log's last own time lies behind its last event's")
        }
        return end
    }

    /// See `LogStorage`.
    package func attached(at sequence: UInt64) throws -> [UInt8]? {
        try read { try $0.get($1.attached, Key(sequence)) { $0.copy() } }
    }

    /// See `LogStorage`.
    package func sharedPart(_ digest: EventLog.Digest) throws -> [UInt8]? {
        try mappingFaults {
            try withEnvironment { opened in
                // Opened at the first use: a reader may be there before its first writer.
                guard let table = try opened.environment.table(Self.sharedName, create: false)
                else { return nil }
                return try opened.environment.read {
                    try $0.get(table, Key(digest.bytes.span)) { $0.copy() }
                }
            }
        }
    }

    /// See `LogStorage`.
    package func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try read { transaction, tables in
            try transaction.get(tables.tiles, Key(UInt64(level), index)) { $0.copy() }
                ?? (level == 0 ? tailTile(index, transaction, tables) : nil)
        }
    }

    /// The partial tile of leaves, from the records of the tail; nil if the tail is elsewhere.
    private func tailTile(
        _ index: UInt64,
        _ transaction: borrowing ReadTransaction,
        _ tables: Tables
    ) throws -> [UInt8]? {
        var hashes: [UInt8] = []
        try transaction.scan(tables.tail, from: Key(index * Bundle.recordCount)) { key, value in
            guard key.count == 8,
                key.loadUInt64BigEndian(at: 0) / Bundle.recordCount == index
            else { return false }
            let count = try Bundle.count(value)
            for place in 0..<count {
                let range = try Bundle.range(of: place, count: count, in: value)
                TreeHash.leaf(ofEntry: value.extracting(range)).append(to: &hashes)
            }
            return true
        }
        return hashes.isEmpty ? nil : hashes
    }

    /// See `LogStorage`.
    package func keepCheckpoint(size: UInt64, note: String) throws {
        let bytes = Array(note.utf8)
        try mappingFaults {
            try withEnvironment { opened in
                try opened.files?.check()
                try opened.environment.write(growingBy: MapSize.growth) {
                    try $0.put(opened.tables.checkpoints, Key(size), bytes.span)
                }
            }
        }
    }

    /// See `LogStorage`.
    package func checkpoints() throws -> [(size: UInt64, note: String)] {
        var checkpoints: [(size: UInt64, note: String)] = []
        try read { transaction, tables in
            try transaction.scan(tables.checkpoints, from: nil) { key, value in
                checkpoints.append(try Self.checkpoint(key, value))
                return true
            }
        }
        return checkpoints
    }

    /// See `LogStorage`.
    package func lastCheckpoint() throws -> (size: UInt64, note: String)? {
        try read { try $0.last($1.checkpoints) { try Self.checkpoint($0, $1) } }
    }

    private static func checkpoint(
        _ key: Span<UInt8>,
        _ value: Span<UInt8>
    ) throws -> (size: UInt64, note: String) {
        guard key.count == 8 else {
            throw LogStorageFault(.damaged, "a checkpoint's key is not a size")
        }
        return (key.loadUInt64BigEndian(at: 0), String(decoding: value.copy(), as: UTF8.self))
    }
}

extension LMDBLog.Tables {
    fileprivate init(_ environment: LMDB.Environment, create: Bool) throws {
        func table(_ name: String) throws -> Table {
            guard let table = try environment.table(name, create: create) else {
                throw LogStorageFault(.damaged, "the log has no table \(name)")
            }
            return table
        }
        bundles = try table("bundles")
        tail = try table("tail")
        attached = try table("companions")
        tiles = try table("tiles")
        checkpoints = try table("checkpoints")
        end = try table("end")
    }
}

/// Gives the faults of LMDB and of decoding the names that `LogStorage` promises.
func mappingFaults<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as LMDBError {
        throw LogStorageFault(error)
    } catch let error as DecodingFault {
        throw LogStorageFault(error.isNewer ? .newerFormat : .damaged, error.what)
    }
}

/// As `mappingFaults`, for an opening: what the system does not let this user open is told as of any file.
func mappingRefusals<Result>(_ body: () throws -> Result) throws -> Result {
    try mappingFaults {
        do {
            return try body()
        } catch let error as LMDBError where error.kind == .notPermitted {
            throw FileFault(error.code, error.operation)
        }
    }
}

extension LogStorageFault {
    init(_ error: LMDBError) {
        let code: Code =
            switch error.kind {
            case .mapFull, .diskFull: .full
            case .readersFull, .mapResized: .busy
            case .invalid: .damaged
            case .io where error.operation == "mdb_txn_commit": .outcomeUnknown
            default: .unreadable
            }
        self.init(code, "\(error.message) (\(error.operation))")
    }
}
