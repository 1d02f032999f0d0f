import EventLog

/// Where a damaged log ended, as far as what is left of it, checkpoints and second copies tell.
struct SalvagedEnd {
    /// The end that is stated; nil where none that can be right survived.
    private(set) var stated: LogEnd?
    /// How many records the log had at least.
    private(set) var size: UInt64
    /// Behind the last place of which anything was found.
    private(set) var foundSize: UInt64
    /// Whether the stated end is in use, and nothing speaks against it.
    private(set) var isLive: Bool

    /// Bytes of the shortest record.
    private static let shortestRecord: UInt64 = 76

    /// Chooses among the ends that sources state.
    ///
    /// `closedSize`: of the ledger when it was last closed. `signed`: sizes and roots of checkpoints
    /// whose signature holds. `earlier`: what an earlier salvage of the same ledger lost.
    init(
        of original: any DamagedOriginal,
        copies: [any DamagedSource],
        closedSize: UInt64,
        signed: [Checkpoint],
        earlier: KnownLoss?
    ) throws {
        let closed = closedSize < Self.closedLimit ? closedSize : 0
        let least = max(closed, signed.map(\.size).max() ?? 0)
        // A number in a damaged file may be anything: no log is longer than its bytes.
        let clues = original.endClues
        let limit = clues.byteCount / Self.shortestRecord + Bundle.recordCount + least
        let ends = try original.ends().filter { $0.size <= limit }
        let live = ends.max { $0.size < $1.size }
        let own: UInt64
        if let live, clues.isComplete, live.size >= max(least, clues.leastSize) {
            stated = live
            own = live.size
            isLive = true
        } else {
            let candidates = clues.otherEnds
                .filter { $0.size <= limit && $0.size >= live?.size ?? 0 }
                .sorted { $0.size > $1.size }
            let borneOut = try candidates.first { try Self.isBorneOut($0, by: original) }
            own = (borneOut ?? live)?.size ?? 0
            let copied = try copies.flatMap { try $0.ends() }.max { $0.size < $1.size }
            stated = [borneOut ?? live, copied].compactMap { $0 }.max { $0.size < $1.size }
            isLive = false
        }
        // What stands behind an end that is in use was superseded, or never committed.
        foundSize = max(stated?.size ?? 0, isLive ? 0 : original.recordEnd(upTo: limit))
        // A log whose tree is lost was not appended to: what was behind its end is there still.
        let behindEnd = earlier?.isTreeLost == true ? earlier?.behindEnd ?? 0 : 0
        size = max(
            least,
            foundSize,
            behindEnd < Self.closedLimit ? max(closed, own) + behindEnd : 0
        )
    }

    /// A number in a small text file is believed up to here, whatever the bytes of the log.
    private static let closedLimit: UInt64 = 1 << 40

    /// Whether the records behind the last full bundle give the edge's last hashes.
    private static func isBorneOut(
        _ end: LogEnd,
        by original: any DamagedOriginal
    ) throws -> Bool {
        guard end.size > 0 else { return false }
        let first = (end.size - 1) / Bundle.recordCount * Bundle.recordCount
        let width = Int(end.size - first)
        var finding = BundleFinding(first: first, width: width, known: nil)
        try finding.add(from: original, isSupplied: false)
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
