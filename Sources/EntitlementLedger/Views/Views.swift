import Crypto
import Dispatch
import Encodings
import EventLog
import PostingIndex
import Synchronization

/// The views of a ledger: the index of one generation, and the overlay before it.
///
/// Whoever writes the log adds to the overlay at once and moves it into the index behind the log; a
/// reader in another process reads the log from the index's position on.
///
/// A file that is not what was written, under the vault's secret, is never believed: the views are
/// made anew from the log, by a reader in memory, and the question is answered from these. Without
/// the secret nothing that stands there is, and the log is read once something is asked.
final class Views: LogIndex {
    let identity: LedgerIdentity
    let log: any LogReader
    let isReadOnly: Bool
    let bootID: String
    let seal: ViewSeal
    /// nil: views stand in memory.
    let directory: ViewDirectory?
    let state = Mutex(State())
    /// Held while the index is changed; never asked for within `state`.
    let changing = Mutex<Void>(())
    /// Which streams may have moved.
    let moves = StreamMoves()
    let replacing = Mutex<(@Sendable () -> Void)?>(nil)
    private let queue = DispatchQueue(label: "entitlement-ledger.views")
    let makers = Atomic(0)

    struct State {
        var overlay = Overlay(from: 0)
        var tables: IndexTables?
        var generation: IndexGeneration?
        /// Whether the overlay is being moved into the tables behind the writer.
        var isFollowing = false
        /// Why the views that stand on the disk are not used.
        var discarded: String?
        /// Why views were made anew.
        var replaced: String?
    }

    /// Events that the overlay holds before they are moved into the tables.
    static let batchLimit = 100_000
    /// Events at which a writer that is faster than its views waits for them.
    static let overlayLimit = 200_000
    /// A log that is longer by more than this is loaded in bulk.
    static let rebuildThreshold: UInt64 = 200_000
    /// How often a question is asked of views made anew, before it is given up.
    private static let attempts = 3

    /// Opens the current generation if it matches the log; a writer makes a new one otherwise.
    ///
    /// `secret`: the vault's, under which views are written; nil where it is not at hand.
    init(
        path: String?,
        identity: LedgerIdentity,
        log: any LogReader,
        secret: KeyedHash?,
        isReadOnly: Bool,
        bootID: String
    ) throws {
        self.identity = identity
        self.log = log
        self.isReadOnly = isReadOnly
        self.bootID = bootID
        // Without one, what this process makes in memory has a secret of its own.
        seal = ViewSeal(
            ledgerID: identity.id,
            secret: secret ?? KeyedHash(SymmetricKey(size: .bits256))
        )
        let seal = seal
        directory = path.map { ViewDirectory(path: $0, seal: seal) }
        if secret != nil { try open() }
        moves.begin(at: end)
    }

    /// Whom to tell when other tables take the place of these.
    func whenReplaced(_ body: @escaping @Sendable () -> Void) { replacing.withLock { $0 = body } }

    private func open() throws {
        try openCurrent()
        let isMissing = state.withLock { $0.tables == nil }
        // Nobody waits for events yet.
        let size = try log.end().size
        let isFarBehind = size > position + Self.rebuildThreshold
        if isReadOnly {
            // A record that cannot be read is met again by the question that needs it, and an
            // audit, which needs no views, names it.
            try? isFarBehind ? makeAnew(upTo: size) : catchUp()
        } else if isMissing || isFarBehind {
            try makeAnew(upTo: size)
            state.withLock { state in
                state.replaced = state.discarded
                state.discarded = nil
            }
        } else {
            try catchUp()
            try flush()
        }
    }

    // MARK: Reading

    func sequence(of signal: SignalDigest) throws -> UInt64? {
        try reading {
            $0.sequence(of: signal)
        } _: { recent, tables in
            // The tables hold what is older: a signal's first outcome wins (E1).
            for candidate in try tables?.candidates(for: signal) ?? []
            where try isSignal(signal, of: candidate) {
                return candidate
            }
            return recent
        }
    }

    /// Whether a record has a signal, of which the tables hold the first bits.
    private func isSignal(_ signal: SignalDigest, of sequence: UInt64) throws -> Bool {
        var isSame = false
        try log.readRecords([sequence]) { _, record in
            let header = try RecordHeader(checking: record)
            isSame = header.signal == signal && header.sequence == sequence
        }
        return isSame
    }

    func lastSequence(of stream: UInt64) throws -> UInt64? {
        try reading {
            $0.lastSequence(of: stream)
        } _: { recent, tables in
            try recent ?? tables?.lastSequence(of: stream)
        }
    }

    /// The entries of a stream below a size, ascending.
    func entries(of stream: UInt64, below size: UInt64) throws -> [StreamEntry] {
        try reading {
            $0.entries(of: stream)
        } _: { recent, tables in
            let entries = try tables?.entries(of: stream, below: size) ?? []
            return entries + recent.prefix { $0.sequence < size }
        }
    }

    /// Whether no event of a stream was recorded at or after a size of the log.
    ///
    /// Cost: one look into the overlay, for a size that the tables do not reach beyond.
    func isUnmoved(_ stream: UInt64, since size: UInt64) throws -> Bool {
        if moves.isCertainlyUnmoved(stream, since: size) { return true }
        return try reading {
            $0.lastSequence(of: stream)
        } _: { recent, tables in
            if let recent { return recent < size }
            guard let tables, size < tables.size else { return true }
            return try tables.lastSequence(of: stream, from: size) == nil
        }
    }

    /// Reads of the overlay, then of the tables as they stood in that moment; makes tables that
    /// are damaged anew, and reads again.
    private func reading<Recent, Answer>(
        _ recent: (Overlay) -> Recent,
        _ body: (Recent, IndexTables?) throws -> Answer
    ) throws -> Answer {
        for _ in 0..<Self.attempts {
            let (found, tables) = state.withLock { (recent($0.overlay), $0.tables) }
            do {
                return try body(found, tables)
            } catch let damage as ViewDamage {
                try replace(tables, because: damage)
            }
        }
        throw LogStorageFault(.damaged, "the views are damaged again and again")
    }

    /// Size of the log that the tables hold.
    var position: UInt64 { state.withLock { $0.tables?.size ?? 0 } }

    /// Size of the log that views and overlay cover.
    var end: UInt64 { state.withLock { $0.overlay.end } }

    /// The tables as they stand, for replay and audit, to which damage is a finding.
    var tables: IndexTables? { state.withLock { $0.tables } }

    /// Whether views are being made anew: questions wait for them, or are answered from the old.
    var isBeingMadeAnew: Bool { makers.load(ordering: .relaxed) > 0 }

    /// Why the views that stand on the disk are not used; nil where they are, or there are none.
    var discarded: String? { state.withLock { $0.discarded } }

    /// Why views were made anew since the ledger was opened; nil: they were not.
    var replaced: String? { state.withLock { $0.replaced } }

    // MARK: Following the log

    /// Adds what was just committed.
    func absorb(_ entries: [IndexEntry]) {
        moves.note(entries)
        state.withLock { $0.overlay.add(entries) }
    }

    /// Reads what another process appended since.
    func catchUp() throws {
        try readOn(upTo: log.end().size)
        let isDue = state.withLock { $0.overlay.isDue(from: Self.batchLimit) }
        if isReadOnly, isDue { try takeUpTables() }
    }

    /// Reads the events up to a size, so that whoever is told of events is told of each.
    func readOn(upTo size: UInt64) throws {
        while end < size {
            let start = end
            var entries: [IndexEntry] = []
            try log.scan(from: start, upTo: size) { header, record in
                entries.append(try header.indexEntry(record))
                return entries.count < Self.batchLimit
            }
            absorb(entries)
            // Gaps at the end are no events, and the end for all that.
            if entries.isEmpty { state.withLock { $0.overlay.pass(to: size) } }
        }
    }

    /// Moves the overlay into the tables behind the writer, once it is large.
    ///
    /// What does not get there, because a disk is full say, stays in the overlay and is tried
    /// again: views take no acknowledgement back.
    func followBehind() {
        guard !isReadOnly else { return }
        let (isFull, isDue) = state.withLock {
            (
                $0.overlay.isDue(from: Self.overlayLimit), $0.overlay.isDue(from: Self.batchLimit)
            )
        }
        if isFull {
            // What does not get there stays in the overlay, and is tried again.
            queue.sync { _ = try? flush() }
        } else if isDue {
            let begins = state.withLock { state in
                defer { state.isFollowing = true }
                return !state.isFollowing
            }
            guard begins else { return }
            queue.async { [self] in
                // What does not get there stays in the overlay, and is tried again.
                _ = try? flush()
                state.withLock { $0.isFollowing = false }
            }
        }
    }

    /// Moves the overlay into the tables, as one more run.
    func flush() throws {
        do {
            try changing.withLock { _ in try moveOverlay() }
        } catch let damage as ViewDamage {
            try replace(tables, because: damage)
        }
    }

    private func moveOverlay() throws {
        let (moving, tables, generation) = state.withLock {
            ($0.overlay.beginMoving(), $0.tables, $0.generation)
        }
        let end = moving.end
        guard let tables, let generation, tables.size < end else { return }
        var postings = Postings(reservingFor: 0)
        for part in moving.postings { postings.append(part) }
        postings.sort()
        let position = try viewPosition(end, bootID: bootID)
        let extended: IndexTables
        do {
            let run = try generation.makeRun(postings, of: tables.size..<end, root: position.root)
            extended = try generation.extended(tables, by: run, position: position)
            try generation.keep(extended)
        } catch {
            // A full disk is not filled by attempts, and the next one comes when more waits.
            generation.removeStrays(but: tables.runs)
            state.withLock { $0.overlay.noteFailure() }
            throw error
        }
        state.withLock {
            $0.tables = extended
            $0.overlay.drop(below: end)
        }
        generation.removeStrays(but: extended.runs)
    }

    /// Moves the overlay into the tables and marks them clean: they are whole on the disk.
    func close() throws {
        queue.sync {}
        guard !isReadOnly else { return }
        // Twice: what came in while a part was moving.
        for _ in 0..<2 { try flush() }
        let (tables, generation) = state.withLock { ($0.tables, $0.generation) }
        guard let tables, let generation else { return }
        let position = try viewPosition(tables.size, bootID: "")
        try generation.keep(
            IndexTables(runs: tables.runs, position: position),
            isDurable: true
        )
    }

    func viewPosition(_ size: UInt64, bootID: String) throws -> ViewPosition {
        ViewPosition(
            ledgerID: identity.id,
            treeSize: size,
            root: size == 0 ? TreeHash.emptyRoot : try TreeReader(LogTiles(log)).root(size: size),
            bootID: bootID
        )
    }
}
