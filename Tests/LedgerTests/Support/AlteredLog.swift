import Encodings
import EntitlementLedger
import EventLog
import Foundation
import Testing

/// A log in memory that hands out other bytes than were appended.
final class AlteredLog: LogStorage {
    /// What is changed on the way out.
    struct Changes: Sendable {
        /// Changes a record that is read.
        var record: (@Sendable (_ sequence: UInt64, _ record: [UInt8]) -> [UInt8])?
        /// Changes a tile that is read.
        var tile: (@Sendable (_ level: Int, _ index: UInt64, _ tile: [UInt8]) -> [UInt8]?)?
        /// Changes the end that is read.
        var end: (@Sendable (LogEnd) -> LogEnd)?
        /// The block at which reading fails.
        var unreadable: UInt64?
    }

    private let log: MemoryLog
    private let changes: Changes

    init(_ log: MemoryLog, _ changes: Changes) {
        self.log = log
        self.changes = changes
    }

    func end() -> LogEnd { changes.end?(log.end()) ?? log.end() }

    func tile(level: Int, index: UInt64) -> [UInt8]? {
        guard let tile = log.tile(level: level, index: index), let change = changes.tile else {
            return log.tile(level: level, index: index)
        }
        return change(level, index, tile)
    }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        try log.readBlocks(from: first, upTo: end) { start, block in
            if start / Bundle.recordCount == changes.unreadable {
                throw LogStorageFault(.unreadable, "the disk does not answer")
            }
            guard let change = changes.record else { return try body(start, block) }
            let altered = try Self.pack(block, from: start, change)
            return try body(start, altered.span)
        }
    }

    private static func pack(
        _ block: Span<UInt8>,
        from first: UInt64,
        _ change: (UInt64, [UInt8]) -> [UInt8]
    ) throws -> [UInt8] {
        let count = try Bundle.count(block)
        var records: [[UInt8]] = []
        for index in 0..<count {
            let range = try Bundle.range(of: index, count: count, in: block)
            records.append(change(first + UInt64(index), block.copy(range)))
        }
        return Bundle.pack(records)
    }

    func readRecords(
        _ sequences: [UInt64],
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        try log.readRecords(sequences, body)
    }

    func append(_ batch: LogBatch) throws -> LogEnd { try log.append(batch) }
    func reopen() {}
    func attached(at sequence: UInt64) -> [UInt8]? { log.attached(at: sequence) }
    func sharedPart(_ digest: Digest) -> [UInt8]? { log.sharedPart(digest) }
    func keepCheckpoint(size: UInt64, note: String) { log.keepCheckpoint(size: size, note: note) }
    func checkpoints() -> [(size: UInt64, note: String)] { log.checkpoints() }
}

extension MemoryLog {
    /// A log of records of the catalog, each under a signal of its own.
    convenience init(recordCount: Int) throws {
        self.init()
        var randomness = RandomSource.system
        for first in stride(from: 0, to: recordCount, by: 4096) {
            let group = try (first..<min(recordCount, first + 4096)).map { number in
                try SealedSubmission(records: [.plain(number, SealingNonce(using: &randomness))])
            }
            let decision = try GroupDecision(
                group,
                end: end(),
                index: NothingKnown(),
                clock: Int64(first)
            )
            _ = try append(decision.batch)
        }
    }

    /// Nothing was recorded before.
    private struct NothingKnown: LogIndex {
        func sequence(of signal: SignalDigest) -> UInt64? { nil }
        func lastSequence(of stream: UInt64) -> UInt64? { nil }
    }
}

extension SealedRecord {
    fileprivate static func plain(_ number: Int, _ nonce: SealingNonce) throws -> SealedRecord {
        try #require(
            try SealedRecord(
                header: Header(
                    time: 0,
                    observedAt: 0,
                    stream: StreamNumber.catalog,
                    kind: 1,
                    source: 1,
                    environment: 0
                ),
                signal: SignalDigest(high: UInt64(number), low: 0),
                facts: [],
                identity: [],
                key: nil,
                nonce: nonce,
                attached: .none,
                attachedDigest: nil,
                otherStreams: []
            )
        )
    }
}

extension Ledger {
    /// A ledger that reads a log in memory, of which other bytes are handed out than were appended.
    static func reading(
        _ log: MemoryLog,
        _ changes: AlteredLog.Changes,
        viewsIn folder: String
    ) throws -> Ledger {
        try Ledger(
            identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "x/log"),
            log: AlteredLog(log, changes),
            vault: MemoryVault(randomness: .system),
            options: Ledger.Options(
                viewsPath: folder,
                bootID: "test",
                isReadOnly: true,
                clock: { Sample.newYear }
            )
        )
    }
}
