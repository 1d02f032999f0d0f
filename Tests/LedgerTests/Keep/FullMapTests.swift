import LMDB
import Testing

@testable import LMDBStorage

/// A map that is full is given more room: the disk has it (Storage, "Append" 6).
struct `A log whose map is full` {
    @Test func `keeps checkpoints`() async throws {
        try await withScratchDirectory { folder in
            let log = try LMDBLog(path: folder, isReadOnly: false, mapSize: MapSize.least)
            defer { log.close() }
            let note = String(repeating: "x", count: 100_000)
            for size in 1...UInt64(30) { try log.keepCheckpoint(size: size, note: note) }
            let kept = try log.checkpoints().map { $0.size }
            #expect(kept == [UInt64](1...30))
            #expect(log.statistics.mapSize > MapSize.least)
        }
    }
}
