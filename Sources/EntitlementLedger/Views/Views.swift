import Dispatch
import EventLog
import FoundationEssentials
import LMDB
import Synchronization

/// The views of a ledger: tables of one generation, and the overlay before them.
///
/// Whoever writes the log adds to the overlay at once and moves it into the tables behind the log;
/// a reader in another process folds the log from the tables' position on.
final class Views: LogIndex {
    private let path: String
    private let identity: LedgerIdentity
    private let log: any LogStorage
    private let isReadOnly: Bool
    private let bootID: String
    private let state: Mutex<State>
    /// The access table of this generation; nil for a reader.
    private let accessTable = Mutex<AccessTable?>(nil)
    /// Which streams may have moved.
    let moves = AccessMoves()
    private let queue = DispatchQueue(label: "entitlement-ledger.views")

    private struct State {
        var overlay: Overlay
        var tables: IndexTables?
        /// Whether the overlay is being moved into the tables behind the writer.
        var isFollowing = false
        /// Why there are no tables although a generation is named.
        var discarded: String?
    }

    /// Events that the overlay holds before they are moved into the tables.
    static let batchLimit = 100_000
    /// Events at which a writer that is faster than its views waits for them.
    static let overlayLimit = 400_000
    /// A log that is longer by more than this is loaded in bulk.
    static let rebuildThreshold: UInt64 = 200_000

    /// Opens the current generation if it matches the log; a writer makes a new one otherwise.
    init(
        path: String,
        identity: LedgerIdentity,
        log: any LogStorage,
        isReadOnly: Bool,
        bootID: String
    ) throws {
        self.path = path
        self.identity = identity
        self.log = log
        self.isReadOnly = isReadOnly
        self.bootID = bootID
        state = Mutex(State(overlay: Overlay(from: 0)))
        try open()
        moves.begin(at: end)
    }

    private func open() throws {
        let size = try log.end().size
        var position: UInt64 = 0
        if let (tables, found) = try matchingTables() {
            position = found.treeSize
            let access = try openAccess(tables)
            state.withLock {
                $0 = State(overlay: Overlay(from: position), tables: tables)
            }
            accessTable.withLock { $0 = access }
        }
        let isMissing = state.withLock { $0.tables == nil }
        if !isReadOnly && (isMissing || size > position + Self.rebuildThreshold) {
            try rebuild { _, _ in }
        } else if isReadOnly {
            // A record that cannot be read is met again by the question that needs it, and an
            // audit, which needs no views, names it.
            _ = try? catchUp()
        } else {
            try catchUp()
            try flush()
        }
    }

    // MARK: Reading

    func sequence(of signal: SignalDigest) throws -> UInt64? {
        let (recent, tables) = state.withLock { ($0.overlay.sequence(of: signal), $0.tables) }
        // The tables hold what is older: a signal's first outcome wins (E1).
        return try tables?.sequence(of: signal) ?? recent
    }

    func lastSequence(of stream: UInt64) throws -> UInt64? {
        let (recent, tables) = state.withLock { ($0.overlay.entries(of: stream), $0.tables) }
        return try recent.last?.sequence ?? tables?.lastSequence(of: stream)
    }

    /// The entries of a stream below a size, ascending.
    func entries(of stream: UInt64, below size: UInt64) throws -> [StreamEntry] {
        // The overlay first: what moves into the tables meanwhile is seen twice, never missed.
        let (recent, tables) = state.withLock { ($0.overlay.entries(of: stream), $0.tables) }
        var entries = try tables?.entries(of: stream, below: size) ?? []
        let known = entries.last?.sequence
        entries += recent.filter {
            $0.sequence < size && (known == nil || $0.sequence > known ?? 0)
        }
        return entries
    }

    /// Size of the log that the tables hold.
    var position: UInt64 {
        state.withLock { $0.overlay.end - UInt64($0.overlay.entries.count) }
    }

    /// Size of the log that views and overlay cover.
    var end: UInt64 { state.withLock { $0.overlay.end } }

    /// Whether no event of a stream was recorded at or after a size of the log.
    func isUnmoved(_ stream: UInt64, since size: UInt64) throws -> Bool {
        if moves.isCertainlyUnmoved(stream, since: size) { return true }
        let (recent, position, tables) = state.withLock {
            (
                $0.overlay.lastSequence(of: stream),
                $0.overlay.end - UInt64($0.overlay.entries.count), $0.tables
            )
        }
        if let recent, recent >= size { return false }
        if size >= position { return true }
        return try tables?.lastSequence(of: stream).map { $0 < size } ?? true
    }

    /// The access table of this generation; nil for a reader.
    var access: AccessTable? { accessTable.withLock { $0 } }

    // MARK: Following the log

    /// Adds what was just committed.
    func absorb(_ entries: [IndexEntry]) {
        moves.note(entries)
        state.withLock { $0.overlay.add(entries) }
    }

    /// Reads what another process appended since.
    func catchUp() throws {
        let size = try log.end().size
        while end < size {
            let start = end
            var entries: [IndexEntry] = []
            try log.scan(from: start, upTo: size) { header, record in
                entries.append(try header.indexEntry(record))
                return entries.count < Self.batchLimit
            }
            absorb(entries)
        }
    }

    /// Moves the overlay into the tables behind the writer, once it is large.
    ///
    /// What does not get there, because a disk is full say, stays in the overlay and is tried
    /// again: views take no acknowledgement back.
    func followBehind() {
        let waiting = state.withLock { $0.overlay.entries.count }
        if waiting >= Self.overlayLimit {
            queue.sync { _ = try? flush() }
        } else if waiting >= Self.batchLimit {
            let begins = state.withLock { state in
                defer { state.isFollowing = true }
                return !state.isFollowing
            }
            guard begins else { return }
            queue.async { [self] in
                _ = try? flush()
                state.withLock { $0.isFollowing = false }
            }
        }
    }

    /// Moves the overlay into the tables, in one sorted batch.
    func flush() throws {
        let (entries, end, tables) = state.withLock {
            ($0.overlay.entries, $0.overlay.end, $0.tables)
        }
        guard let tables, !entries.isEmpty else { return }
        try tables.add(entries, position: try viewPosition(end, bootID: bootID))
        state.withLock { $0.overlay.drop(below: end) }
    }

    /// Moves the overlay into the tables and marks them clean: they are whole on the disk.
    func close() throws {
        queue.sync {}
        let tables = state.withLock { $0.tables }
        if !isReadOnly, let tables {
            try flush()
            try access?.seal(try viewPosition(end, bootID: ""))
            try tables.sync()
            try tables.put(try viewPosition(end, bootID: ""))
            try tables.sync()
        }
        tables?.close()
    }

    func viewPosition(_ size: UInt64, bootID: String) throws -> ViewPosition {
        ViewPosition(
            ledgerID: identity.id,
            treeSize: size,
            root: size == 0 ? TreeHash.emptyRoot : try TreeReader(LogTiles(log)).root(size: size),
            bootID: bootID
        )
    }

    // MARK: Generations

    private var currentFile: String { path + "/current" }

    /// The generation that `current` names, if its position matches the log.
    private func matchingTables() throws -> (IndexTables, ViewPosition)? {
        guard let name = currentGeneration() else { return nil }
        let tables: IndexTables
        do {
            tables = try IndexTables(path: path + "/" + name, isReadOnly: isReadOnly)
        } catch is LMDBError, is LogStorageFault {
            discard("the views' files are damaged or missing")
            return nil
        }
        // A position, or a tree, that cannot be read is as good as one that does not match.
        guard let position = try? tables.position(), (try? matches(position)) == true else {
            tables.close()
            discard("the views' position does not match the log")
            return nil
        }
        if !isReadOnly {
            // From here on the tables are being written and are not to be trusted after a reboot.
            try tables.put(try viewPosition(position.treeSize, bootID: bootID))
            try tables.sync()
        }
        return (tables, position)
    }

    /// The access table beside a generation's tables, for the writer.
    private func openAccess(_ tables: IndexTables) throws -> AccessTable? {
        guard !isReadOnly else { return nil }
        return try AccessTable(
            path: tables.path + "/access",
            position: try viewPosition(0, bootID: ""),
            tables: tables,
            log: log
        ) { [self] sealed in
            try viewPosition(sealed.treeSize, bootID: "").root.bytes == sealed.root
        }
    }

    private func discard(_ reason: String) { state.withLock { $0.discarded = reason } }

    /// Why the views that stand on the disk are not used; nil where they are, or there are none.
    var discarded: String? { state.withLock { $0.discarded } }

    private func matches(_ position: ViewPosition) throws -> Bool {
        // The log's end is read after the position: a writer may be moving both.
        guard position.ledgerID == identity.id, position.treeSize <= (try log.end().size),
            position.bootID.isEmpty || position.bootID == bootID
        else { return false }
        return try viewPosition(position.treeSize, bootID: position.bootID) == position
    }

    private func currentGeneration() -> String? {
        guard let data = try? Data(contentsOf: URL(filePath: currentFile)) else { return nil }
        let name = String(decoding: data, as: UTF8.self).filter { !$0.isNewline }
        return name.isEmpty || name.contains("/") ? nil : name
    }

    /// Writes a new generation from the log, beside the old one, and switches at once.
    func rebuild(progress: (_ done: UInt64, _ of: UInt64) throws -> Void) throws {
        precondition(!isReadOnly, "only the writer rebuilds views")
        let manager = FileManager.default
        try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
        let old = try manager.contentsOfDirectory(atPath: path).filter { $0 != "current" }
        let number = (old.compactMap { Int($0) }.max() ?? 0) + 1
        let generation = path + "/" + String(number)
        try manager.createDirectory(atPath: generation, withIntermediateDirectories: true)
        let tables = try IndexTables(path: generation, isReadOnly: false)
        let size = try log.end().size
        try BulkLoad(log: log, tables: tables, size: size).run(progress: progress)
        try tables.put(try viewPosition(size, bootID: bootID))
        try tables.sync()
        let access = try openAccess(tables)
        try Data(String(number).utf8).write(to: URL(filePath: currentFile), options: .atomic)
        let replaced = state.withLock { state in
            defer {
                state = State(overlay: Overlay(from: size), tables: tables)
            }
            return state.tables
        }
        accessTable.withLock { $0 = access }
        replaced?.close()
        // Readers that hold an old generation keep its files until they close them.
        for name in old { try? manager.removeItem(atPath: path + "/" + name) }
        try catchUp()
    }

    func tablesHold(stream: UInt64, _ entry: IndexEntry) throws -> Bool {
        let tables = state.withLock { $0.tables }
        return try tables?.holds(stream: stream, entry.sequence, kind: entry.kind) ?? false
    }

    func tablesSequence(of signal: SignalDigest) throws -> UInt64? {
        let tables = state.withLock { $0.tables }
        return try tables?.sequence(of: signal)
    }

    /// Hands out the tables' entries, for replay and audit.
    func scan(
        streams onStream: (UInt64, StreamEntry) throws -> Void,
        signals onSignal: (SignalDigest, UInt64) throws -> Void
    ) throws {
        let tables = state.withLock { $0.tables }
        try tables?.scan(streams: onStream, signals: onSignal)
    }
}

/// Lends a log's tiles to a tree reader.
struct LogTiles: TileSource {
    private let log: any LogStorage

    init(_ log: any LogStorage) { self.log = log }

    func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try log.tile(level: level, index: index)
    }
}
