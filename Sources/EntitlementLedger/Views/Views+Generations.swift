import EventLog
import PostingIndex
import Synchronization

/// Whole views: those that stand are taken, and others are made in their place.
extension Views {
    /// Takes the generation that `current` names, if its position matches the log.
    func openCurrent() throws {
        let opened: (IndexGeneration, IndexTables)?
        do {
            opened = try directory?.openCurrent()
        } catch {
            return discard(error.what)
        }
        guard let (generation, found) = opened else { return }
        var tables = found
        // A position, or a tree, that cannot be read is as good as one that does not match.
        guard (try? matches(tables.position)) == true else {
            return discard("the views' position does not match the log")
        }
        if !isReadOnly {
            generation.removeStrays(but: tables.runs)
            // From here on the index is being written and is not to be trusted after a reboot.
            let position = try viewPosition(tables.size, bootID: bootID)
            tables = IndexTables(runs: tables.runs, position: position)
            try generation.keep(tables)
        }
        try use(generation, tables)
    }

    /// Takes the tables that the writer has written since, for who only reads: the overlay would grow for as
    /// long as it runs, and runs that were joined would stay on the disk.
    func takeUpTables() throws {
        try changing.withLock { _ in
            // What is being replaced, or does not match, is looked at again later.
            let found = (try? directory?.openCurrent()) ?? nil
            if let (generation, tables) = found, tables.size > position {
                // Nor is it taken where the log, or the tree, cannot be read.
                let matches = (try? matches(tables.position)) ?? false
                if matches {
                    // The writer may have come further since the log was read: an erasure there, or a
                    // catalog, is met as it is elsewhere.
                    try readOn(upTo: tables.size)
                    try use(generation, tables)
                }
            }
            state.withLock { state in
                if state.overlay.isDue(from: Self.batchLimit) { state.overlay.noteFailure() }
            }
        }
    }

    private func discard(_ reason: String) { state.withLock { $0.discarded = reason } }

    private func matches(_ position: ViewPosition) throws -> Bool {
        // The log's end is read after the position: a writer may be moving both.
        guard position.ledgerID == identity.id, position.treeSize <= (try log.end().size),
            position.bootID.isEmpty || position.bootID == bootID
        else { return false }
        return try viewPosition(position.treeSize, bootID: position.bootID) == position
    }

    private func use(_ generation: IndexGeneration, _ tables: IndexTables) throws {
        state.withLock {
            $0.overlay.drop(below: tables.size)
            $0.tables = tables
            $0.generation = generation
        }
        replacing.withLock { $0 }?()
    }

    /// Writes a new generation from the log, beside the old one, and switches at once.
    ///
    /// One that was stopped half-way goes on where it was.
    func rebuild(progress: BulkLoad.Progress) throws {
        precondition(!isReadOnly, "only the writer rebuilds views")
        try changing.withLock { _ in
            try makingAnew {
                let size = try notedEnd()
                guard let directory else { return try makeAnew(upTo: size) }
                try makeAnew(in: directory, upTo: size, progress: progress)
            }
            state.withLock { $0.discarded = nil }
        }
        try catchUp()
    }

    /// Makes the views anew because they are missing or not to be believed.
    ///
    /// A reader, and a writer whose disk takes nothing, makes them in memory. `size`: of events that are noted.
    func makeAnew(upTo size: UInt64) throws {
        if let directory, !isReadOnly {
            do {
                return try makeAnew(in: directory, upTo: size) { _, _ in }
            } catch {
                // If it was the log and not the disk, the second attempt says so.
                directory.removeUnfinished()
            }
        }
        let unnamed = IndexGeneration(path: nil, seal: seal)
        try use(unnamed, bulkLoad(upTo: size).run(in: unnamed, from: nil) { _, _ in })
    }

    private func makeAnew(
        in directory: ViewDirectory,
        upTo size: UInt64,
        progress: BulkLoad.Progress
    ) throws {
        let (generation, tables) = try bulkLoad(upTo: size).run(in: directory, progress: progress)
        try use(generation, tables)
        try directory.use(generation)
    }

    private func makingAnew<Result>(_ body: () throws -> Result) rethrows -> Result {
        makers.add(1, ordering: .relaxed)
        defer { makers.subtract(1, ordering: .relaxed) }
        return try body()
    }

    /// The log's end by now: who waits for events up to there is told of each, for tables hold them in silence.
    private func notedEnd() throws -> UInt64 {
        try readOn(upTo: log.end().size)
        return end
    }

    private func bulkLoad(upTo size: UInt64) -> BulkLoad {
        BulkLoad(log: log, size: size) { [self] size in
            try viewPosition(size, bootID: bootID)
        }
    }

    /// Makes damaged tables anew, unless somebody did so meanwhile.
    func replace(_ damaged: IndexTables?, because damage: ViewDamage) throws {
        try changing.withLock { _ in
            let current = state.withLock { $0.tables }
            guard current?.isSame(as: damaged) ?? false else { return }
            try makingAnew { try makeAnew(upTo: notedEnd()) }
            state.withLock { $0.replaced = damage.what }
        }
    }
}
