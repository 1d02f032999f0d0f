import EventLog
import Synchronization

/// A log in memory whose appends, scans, or looks at its end fail as long as a test wants them to, or whose
/// bytes are others.
final class FaultyLog: LogStorage {
    private let base = MemoryLog()
    private let current = Mutex<LogStorageFault?>(nil)
    private let scanning = Mutex<LogStorageFault?>(nil)
    private let ending = Mutex<LogStorageFault?>(nil)

    /// What an append throws; nil: it succeeds.
    var fault: LogStorageFault? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// How often a checkpoint was to be kept.
    var checkpointsTried: Int { tried.load(ordering: .relaxed) }
    private let tried = Atomic(0)

    /// What a scan of the log throws; nil: it succeeds.
    var scanFault: LogStorageFault? {
        get { scanning.withLock { $0 } }
        set { scanning.withLock { $0 = newValue } }
    }

    /// What a look at the log's end throws; nil: it succeeds.
    var endFault: LogStorageFault? {
        get { ending.withLock { $0 } }
        set { ending.withLock { $0 = newValue } }
    }

    /// A place in which a bit is another than was appended.
    enum Damage: Hashable {
        /// In a record, by its sequence.
        case record(UInt64, byte: Int)
        /// In the middle of what is attached to a record.
        case attached(UInt64)
    }
    private let damaging = Mutex<Damage?>(nil)

    /// Where a bit is another; nil: nowhere.
    var damage: Damage? {
        get { damaging.withLock { $0 } }
        set { damaging.withLock { $0 = newValue } }
    }

    /// A moment between what the log has and what others know of it.
    enum Moment { case endWasRead, batchStands }
    private let interludes = Mutex<[Moment: @Sendable () throws -> Void]>([:])

    /// Has something happen once, the next time that it is this moment.
    func meanwhile(_ moment: Moment, _ body: @escaping @Sendable () throws -> Void) {
        interludes.withLock { $0[moment] = body }
    }

    private func pass(_ moment: Moment) throws {
        let body = interludes.withLock { $0.removeValue(forKey: moment) }
        try body?()
    }

    private func lent(_ sequence: UInt64, _ record: Span<UInt8>) -> [UInt8] {
        var bytes = record.copy()
        if case .record(sequence, let byte) = damage { bytes[byte] ^= 1 }
        return bytes
    }

    func append(_ batch: LogBatch) throws -> LogEnd {
        if let fault { throw fault }
        let end = try base.append(batch)
        try pass(.batchStands)
        return end
    }

    func end() throws -> LogEnd {
        if let endFault { throw endFault }
        let end = base.end()
        try pass(.endWasRead)
        return end
    }

    func reopen() { base.reopen() }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (_ first: UInt64, _ block: Span<UInt8>) throws -> Bool
    ) throws {
        if let scanFault { throw scanFault }
        guard case .record = damage else {
            return try base.readBlocks(from: first, upTo: end, body)
        }
        try base.readBlocks(from: first, upTo: end) { start, block in
            let count = try Bundle.count(block)
            var records: [[UInt8]] = []
            for index in 0..<count {
                let range = try Bundle.range(of: index, count: count, in: block)
                records.append(lent(start + UInt64(index), block.extracting(range)))
            }
            let bytes = Bundle.pack(records)
            return try body(start, bytes.span)
        }
    }

    func readRecords(
        _ sequences: [UInt64],
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Void
    ) throws {
        try base.readRecords(sequences) { sequence, record in
            let bytes = lent(sequence, record)
            try body(sequence, bytes.span)
        }
    }

    func attached(at sequence: UInt64) -> [UInt8]? {
        var bytes = base.attached(at: sequence)
        if damage == .attached(sequence), let count = bytes?.count { bytes?[count / 2] ^= 1 }
        return bytes
    }
    func sharedPart(_ digest: Digest) -> [UInt8]? { base.sharedPart(digest) }
    func tile(level: Int, index: UInt64) -> [UInt8]? {
        base.tile(level: level, index: index)
    }
    func keepCheckpoint(size: UInt64, note: String) throws {
        tried.add(1, ordering: .relaxed)
        if let fault { throw fault }
        base.keepCheckpoint(size: size, note: note)
    }
    func checkpoints() -> [(size: UInt64, note: String)] { base.checkpoints() }
}
