import EventLog
import Foundation
import Synchronization

/// A log in memory that counts its commits, and may hold the first one or fail.
final class HeldLog: LogStorage {
    private let state = Mutex(State())
    private var log: MemoryLog { state.withLock { $0.log } }

    private struct State {
        var log = MemoryLog()
        /// What it is once it is opened again; nil: the same.
        var reopened: MemoryLog?
        var commits = 0
        var isFailing = false
        var release: (@Sendable () -> Bool)?
        var beforeCheckpoint: (@Sendable () -> Void)?
    }

    /// Commits so far.
    var commits: Int { state.withLock { $0.commits } }

    /// Holds the next commit until a condition is met.
    func hold(until release: @escaping @Sendable () -> Bool) {
        state.withLock { $0.release = release }
    }

    /// Does something before the next checkpoint is kept.
    func beforeCheckpoint(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforeCheckpoint = body }
    }

    /// Whether commits fail, as on a full disk.
    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

    /// Has another log in its place once it is opened again.
    func comeBack(as log: MemoryLog) { state.withLock { $0.reopened = log } }

    func append(_ batch: LogBatch) throws -> LogEnd {
        let (isFailing, release) = state.withLock { state in
            defer { state.release = nil }
            return (state.isFailing, state.release)
        }
        if isFailing { throw LogStorageFault(.full, "no room") }
        while let release, !release() { sched_yield() }
        state.withLock { $0.commits += 1 }
        return try log.append(batch)
    }

    func end() -> LogEnd { log.end() }
    func reopen() { state.withLock { $0.log = $0.reopened ?? $0.log } }
    func attached(at sequence: UInt64) -> [UInt8]? { log.attached(at: sequence) }
    func sharedPart(_ digest: Digest) -> [UInt8]? { log.sharedPart(digest) }
    func tile(level: Int, index: UInt64) -> [UInt8]? { log.tile(level: level, index: index) }
    func keepCheckpoint(size: UInt64, note: String) {
        let before = state.withLock { state in
            defer { state.beforeCheckpoint = nil }
            return state.beforeCheckpoint
        }
        before?()
        log.keepCheckpoint(size: size, note: note)
    }
    func checkpoints() -> [(size: UInt64, note: String)] { log.checkpoints() }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        try log.readBlocks(from: first, upTo: end, body)
    }

    func readRecords(
        _ sequences: [UInt64],
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        try log.readRecords(sequences, body)
    }
}
