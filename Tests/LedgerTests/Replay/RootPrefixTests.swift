import EventLog
import Testing

@testable import EntitlementLedger

/// Which history a size is of, by the hashes of the tree, which have no checksums.
struct `The root of a prefix` {
    private static let count = 600
    private static let sizes: [UInt64] = [0, 1, 100, 255, 256, 257, 599, 600]

    /// What each size comes to; nil: damage was found.
    private static func prefixes(_ changes: AlteredLog.Changes) async throws -> [RootPrefix?] {
        try await withScratchDirectory { folder in
            let log = try MemoryLog(recordCount: count)
            let ledger = try Ledger.reading(log, changes, viewsIn: folder)
            return try sizes.map { size in
                do {
                    let prefix = try ledger.questions.rootPrefix(at: size)
                    #expect(try ledger.questions.rootPrefix(at: size) == prefix)
                    let root = try TreeReader(LogTiles(log)).root(size: size)
                    #expect(prefix == RootPrefix(of: root), "size \(size)")
                    return prefix
                } catch let fault as LogStorageFault {
                    #expect(fault.code == .damaged)
                    return nil
                }
            }
        }
    }

    // The control of the others
    @Test func `is told of every size`() async throws {
        let found = try await Self.prefixes(.init())
        #expect(!found.contains(nil) && Set(found).count == Self.sizes.count)
    }

    @Test func `is not told from a hash that was altered`() async throws {
        let found = try await Self.prefixes(
            .init(tile: { level, index, tile in
                guard level == 0, index == 0 else { return tile }
                var tile = tile
                tile[3 * Digest.byteCount] ^= 1
                return tile
            })
        )
        // Which of the sizes are read from that tile.
        let lacking = zip(Self.sizes, found).filter { $0.1 == nil }.map(\.0)
        #expect(lacking == [1, 100, 255])
    }

    @Test func `is not told beside an end that was altered`() async throws {
        let found = try await Self.prefixes(
            .init(end: { end in
                var hashes = end.edge.hashes
                hashes[0] = TreeHash.leaf([1].span)
                guard let edge = TreeEdge(size: end.size, checking: hashes) else { return end }
                return LogEnd(
                    edge: edge,
                    lastRecordedAt: end.lastRecordedAt,
                    highestCounter: end.highestCounter
                )
            })
        )
        // Of nothing nothing is read.
        #expect(found.dropFirst().allSatisfy { $0 == nil })
    }
}
