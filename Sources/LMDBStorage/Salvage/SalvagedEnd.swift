import EventLog

/// Where a damaged log ended, as far as its file, its checkpoints and second copies tell.
struct SalvagedEnd {
    /// The end that the file states; nil where none that can be right survived.
    private(set) var stated: LogEnd?
    /// How many records the log had at least.
    private(set) var size: UInt64
    /// Behind the last place of which anything was found.
    private(set) var foundSize: UInt64
    /// Whether the file's meta pages lead to the stated end, and nothing speaks against it.
    private(set) var isLive: Bool

    /// Bytes of the shortest record.
    private static let shortestRecord: UInt64 = 76

    /// Chooses among the ends that the file holds.
    ///
    /// `closedSize`: of the ledger when it was last closed. `signed`: sizes and roots of checkpoints
    /// whose signature holds. `supplied`: ends that second copies have.
    init(
        of log: DamagedLog,
        closedSize: UInt64,
        signed: [Checkpoint],
        supplied: [LogEnd]
    ) throws {
        let least = max(
            closedSize < Self.closedLimit ? closedSize : 0,
            signed.map(\.size).max() ?? 0
        )
        // A number in a damaged file may be anything: no log is longer than its bytes.
        let limit = log.bytes.byteCount / Self.shortestRecord + Bundle.recordCount + least
        let ends = log.live.compactMap(\.end).filter { $0.size <= limit }
        let live = ends.max { $0.size < $1.size }
        let recordEnd = log.live.first?.recordEnd ?? 0
        if let live, log.live.count == DatabasePage.metaPages, live.size >= max(least, recordEnd) {
            stated = live
            isLive = true
        } else {
            let candidates = log.found.ends.values.joined()
                .filter { $0.size <= limit && $0.size >= live?.size ?? 0 }
                .sorted { $0.size > $1.size }
            let borneOut = try candidates.first { try Self.isBorneOut($0, by: log) }
            let copied = supplied.max { $0.size < $1.size }
            stated = [borneOut ?? live, copied].compactMap { $0 }.max { $0.size < $1.size }
            isLive = false
        }
        // What stands behind an end that is in use was superseded, or never committed.
        let highest = log.found.runs.last { $0.end <= limit }?.end ?? 0
        foundSize = max(stated?.size ?? 0, isLive ? 0 : highest)
        size = max(least, foundSize)
    }

    /// A size in a small text file is believed up to here, whatever the bytes of the log.
    private static let closedLimit: UInt64 = 1 << 40

    /// Whether the records behind the last full bundle give the edge's last hashes.
    private static func isBorneOut(_ end: LogEnd, by log: DamagedLog) throws -> Bool {
        guard end.size > 0 else { return false }
        let first = (end.size - 1) / Bundle.recordCount * Bundle.recordCount
        let width = Int(end.size - first)
        var finding = BundleFinding(first: first, width: width, known: nil)
        try finding.add(from: log)
        let leaves = (0..<width).compactMap {
            finding.choice($0, preferringSupplied: false)?.leaf
        }
        guard leaves.count == width else { return false }
        let own = TreeEdge(leaves: leaves)
        guard width < Bundle.recordCount else {
            // The last bundle's root is within a larger subtree: that all its records are there says
            // enough.
            return true
        }
        return end.edge.hashes.suffix(own.hashes.count) == own.hashes[...]
    }
}

extension BundleFinding {
    /// Adds what the file holds of the bundle, pages in use first.
    mutating func add(from log: DamagedLog) throws {
        let range = first..<first + UInt64(width)
        for run in log.runs(overlapping: range) where run.end > range.lowerBound {
            let isLive = log.isLive(run)
            let bytes = try log.read(.init(offset: run.offset, count: run.byteCount))
            var offset = run.offset
            run.forEach(in: bytes.span) { sequence, record in
                add(sequence, record, isLive: isLive, isSupplied: false, offset: offset)
                offset += UInt64(record.count + RecordRun.prefixCount)
            }
        }
    }
}
