import EventLog

/// Makes the index of a log anew: parts that fit in memory are sorted, written as runs, and joined.
///
/// Reading, sorting, writing and joining use all cores; some 100 MiB, whatever the log's size.
struct BulkLoad {
    let log: any LogStorage
    let generation: IndexGeneration

    /// Events of a part.
    private static let partSize: UInt64 = 1 << 20

    func run(
        to position: ViewPosition,
        progress: (_ done: UInt64, _ of: UInt64) throws -> Void
    ) throws -> IndexTables {
        let size = position.treeSize
        var runs: [IndexRun] = []
        var next: UInt64 = 0
        while next < size {
            let sequences = next..<min(next + Self.partSize, size)
            var postings = try PostingCollector.collect(log, sequences)
            postings.sort()
            runs.append(
                try generation.makeRun(postings, of: sequences, root: position.root)
            )
            next = sequences.upperBound
            try progress(next, size)
        }
        guard runs.count > 1 else { return IndexTables(runs: runs, position: position) }
        let joined = try generation.join(runs, root: position.root)
        generation.remove(runs, but: [joined])
        return IndexTables(runs: [joined], position: position)
    }
}
