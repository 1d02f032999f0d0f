import EventLog
import PostingIndex

/// Makes the index of a log anew: parts that fit in memory are sorted, written as runs, and joined.
///
/// Reading, sorting, writing and joining use all cores. Memory: some 100 MiB, and in the end the filters of
/// both tables, some 3 bytes a key. The generation says after each part how far it is, so that one that is
/// stopped goes on there.
struct BulkLoad {
    let log: any LogReader
    /// The size of the log to load.
    let size: UInt64
    /// The position of the views at a size.
    let position: (_ size: UInt64) throws -> ViewPosition

    /// Events of a part.
    var partSize: UInt64 = 1 << 20
    /// Runs that are joined at once, at most: each posting is held against that many.
    private static let joinWidth = 16

    typealias Progress = (_ done: UInt64, _ of: UInt64) throws -> Void

    /// Makes a generation beside those of a directory; one that was stopped half-way goes on.
    func run(
        in directory: ViewDirectory,
        progress: Progress
    ) throws -> (IndexGeneration, IndexTables) {
        let unfinished = try directory.unfinished().first { _, tables in
            // A position that cannot be read is as good as one that does not match.
            (try? position(tables.size)) == tables.position
        }
        if let (generation, tables) = unfinished {
            generation.removeStrays(but: tables.runs)
            do {
                return (generation, try run(in: generation, from: tables, progress: progress))
            } catch is ViewDamage {
                // What was made before is not what was written: from the beginning.
            }
        }
        let generation = try directory.makeGeneration()
        return (generation, try run(in: generation, from: nil, progress: progress))
    }

    /// Goes on from tables that the generation holds already.
    func run(
        in generation: IndexGeneration,
        from start: IndexTables?,
        progress: Progress
    ) throws -> IndexTables {
        var runs = start?.runs ?? []
        var next = start?.size ?? 0
        while next < size {
            let sequences = next..<min(next + partSize, size)
            var postings = try Postings.collect(log, sequences)
            postings.sort()
            next = sequences.upperBound
            let position = try position(next)
            runs.append(try generation.makeRun(postings, of: sequences, root: position.root))
            try generation.keep(IndexTables(runs: runs, position: position))
            try progress(next, size)
        }
        let position = try position(size)
        var kept = runs
        while kept.count > 1 {
            kept = try stride(from: 0, to: kept.count, by: Self.joinWidth).map { first in
                let joined = kept[first...].prefix(Self.joinWidth)
                return joined.count == 1
                    ? kept[first] : try generation.join(Array(joined), root: position.root)
            }
        }
        let tables = IndexTables(runs: kept, position: position)
        try generation.keep(tables)
        generation.removeStrays(but: kept)
        return tables
    }
}
