import EventLog

/// A log that holds one block of records and nothing else: what stands in it is an input's.
struct FuzzedLog: LogStorage {
    let block: [UInt8]
    private let count: UInt64

    /// Takes a block whose trailer is one; nil: it is refused at once.
    init?(_ block: [UInt8]) {
        guard let count = try? Bundle.count(block.span), count > 0 else { return nil }
        self.block = block
        self.count = UInt64(count)
    }

    func end() -> LogEnd { LogEnd(edge: edge, lastRecordedAt: 0, highestCounter: .max) }

    /// Every leaf is of nothing: no hash is an input's.
    private static let leaf = TreeHash.leaf([UInt8]().span)

    private var edge: TreeEdge {
        var edge = TreeEdge()
        for _ in 0..<count { edge.append(Self.leaf) }
        return edge
    }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        if first < end { _ = try body(0, block.span) }
    }

    func readRecords(
        _ sequences: [UInt64],
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        for sequence in sequences {
            guard sequence < count else {
                throw LogStorageFault(.damaged, "record \(sequence) is missing")
            }
            let range = try Bundle.range(of: Int(sequence), count: Int(count), in: block.span)
            try body(sequence, block.span.extracting(range))
        }
    }

    func append(_ batch: LogBatch) throws -> LogEnd { throw LogStorageFault(.full, "read only") }
    func reopen() {}
    func attached(at sequence: UInt64) -> [UInt8]? { nil }
    func sharedPart(_ digest: Digest) -> [UInt8]? { nil }
    func tile(level: Int, index: UInt64) -> [UInt8]? {
        switch (level, index) {
        case (0, 0): (0..<count).flatMap { _ in Self.leaf.bytes }
        case (1, 0) where count == UInt64(TileCoordinate.fullWidth): edge.root.bytes
        default: nil
        }
    }
    func keepCheckpoint(size: UInt64, note: String) {}
    func checkpoints() -> [(size: UInt64, note: String)] { [] }
}
