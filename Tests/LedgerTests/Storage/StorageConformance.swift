import Encodings
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import ModelSupport
import Testing

// One suite for every storage: what `LogStorage` and `Vault` promise is what these tests say
// (Storage, "One suite for every storage"). A draft keeps that of it which its records and names
// need: no tree, no checkpoint, and streams that lie in no shard of theirs.

/// A storage under test.
enum StorageBackend: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, lmdb
    /// A draft over an empty log, and one over the first batch that is appended.
    case draft, draftAmid
    /// What leads a cluster: durable in PostgreSQL, read from its own files.
    case leader

    var testDescription: String { rawValue }

    /// Whether what was committed outlives the process.
    var isDurable: Bool { [.lmdb, .leader].contains(self) }

    /// All that this machine can have.
    static let allCases: [StorageBackend] = [.memory, .lmdb, .draft, .draftAmid] + leaders

    /// Those in which a ledger stands: with a tree and its checkpoints, in blocks of commits.
    static let ofLedgers: [StorageBackend] = [.memory, .lmdb] + leaders

    private static let leaders: [StorageBackend] = ConformanceServers.isInstalled ? [.leader] : []
}

/// A log and a vault, empty at first, in a directory that goes with them.
final class ScratchStorage {
    let folder: String
    private(set) var log: any LogStorage
    private(set) var vault: any Vault
    private var directory: OpenLedgerDirectory?
    private var leading: LeaderStorage?

    private static let masterKey = (0..<32).map { UInt8($0) }

    /// Lends a storage; it is closed and removed when the body ends.
    static func with<Result>(
        _ backend: StorageBackend,
        _ body: (ScratchStorage) async throws -> Result
    ) async throws -> Result {
        try await withScratchDirectory { folder in
            let storage =
                switch backend {
                case .memory: try ScratchStorage(inMemoryBeside: folder)
                case .draft: try ScratchStorage(drafting: DraftLog(on: MemoryLog()), folder)
                case .draftAmid: try ScratchStorage(drafting: DraftAmid(), folder)
                case .lmdb, .leader: try ScratchStorage(onDisk: folder)
                }
            defer { storage.directory?.close() }
            guard backend == .leader else { return try await body(storage) }
            try storage.lead()
            let result = try await body(storage)
            try storage.leading?.expectFollowed(to: storage.log)
            return result
        }
    }

    private init(inMemoryBeside folder: String) throws {
        self.folder = folder
        log = MemoryLog()
        vault = try MemoryVault(randomness: .system)
    }

    private init(drafting log: any LogStorage, _ folder: String) throws {
        self.folder = folder
        self.log = log
        let base = try MemoryVault(randomness: .system)
        // A draft has names of its own beside those that it stands on.
        _ = base.reserveStream(of: StreamName(environment: 1, subject: "customer/of the base"))
        vault = DraftVault(on: base, randomness: .system)
    }

    private init(onDisk folder: String) throws {
        self.folder = folder
        try LedgerDirectory.createSample(at: folder + "/ledger", masterKey: Self.masterKey)
        let opened = try Self.open(folder)
        directory = opened
        log = opened.log
        vault = opened.vault
    }

    /// From here on its log is one that leads.
    private func lead() throws {
        let leading = try LeaderStorage()
        log = try leading.lead(over: log)
        self.leading = leading
    }

    private static func open(_ folder: String) throws -> OpenLedgerDirectory {
        try OpenLedgerDirectory(
            at: folder + "/ledger",
            masterKey: masterKey,
            forWriting: true,
            clock: { 0 },
            randomness: .system
        )
    }

    /// As after a new start of the process; memory has none, there the log is opened again.
    func reopen() throws {
        guard let directory else { return try log.reopen() }
        directory.close()
        let opened = try Self.open(folder)
        self.directory = opened
        log = try leading?.lead(over: opened.log) ?? opened.log
        vault = opened.vault
    }

    /// Makes reserved streams durable, with a commit of the log.
    func commit(upTo counter: UInt64) throws {
        try vault.commit(upTo: counter) { new in
            guard !new.isEmpty else { return }
            _ = try log.append(batch(carrying: new))
        }
    }

    /// A batch that carries new streams: without a record, where there is such a thing.
    ///
    /// A journal has none: in it the places of batches are those of their first records.
    func batch(carrying new: [NewStream]) throws -> LogBatch {
        var batch = LogBatch(after: try log.end())
        batch.newStreams = new
        guard leading != nil else { return batch }
        let sample = try SampleLog([1]).batches[0]
        batch.records = sample.records
        batch.leaves = sample.leaves
        batch.lastRecordedAt = max(batch.lastRecordedAt, sample.lastRecordedAt)
        return batch
    }

    /// Appends all batches.
    @discardableResult
    func append(_ sample: SampleLog) throws -> ScratchStorage {
        for (batch, end) in zip(sample.batches, sample.ends) {
            #expect(try log.append(batch) == end)
        }
        return self
    }
}

/// Batches laid out ahead, with all that a log must answer after them.
struct SampleLog {
    var batches: [LogBatch] = []
    /// The log's end after each batch.
    private(set) var ends: [LogEnd] = []
    /// Records by sequence.
    private(set) var records: [[UInt8]] = []
    /// Evidence and attachments by their record.
    private(set) var attached: [UInt64: [UInt8]] = [:]

    private static let start = Sample.newYear.milliseconds
    /// Each so many records one has an attachment.
    private static let attachedInterval = 7

    /// `sizes`: records of each batch.
    ///
    /// `longest`: so many bytes of facts has the longest record.
    init(_ sizes: [Int], longest: Int = 300) throws {
        for size in sizes {
            let first = records.count
            let decision = try GroupDecision(
                (first..<first + size).map { try Self.submission($0, longest: longest) },
                end: end,
                index: EmptyIndex(),
                clock: Self.start + Int64(first)
            )
            add(decision.batch)
        }
    }

    /// The log's end after all batches.
    var end: LogEnd { ends.last ?? .empty }

    var leaves: [Digest] { records.map { TreeHash.leaf($0.span) } }

    private mutating func add(_ batch: LogBatch) {
        var edge = end.edge
        for leaf in batch.leaves { edge.append(leaf) }
        batches.append(batch)
        records += batch.records
        for part in batch.attached { attached[part.sequence] = part.bytes }
        ends.append(
            LogEnd(
                edge: edge,
                lastRecordedAt: batch.lastRecordedAt,
                highestCounter: batch.highestCounter,
                lastOwnRecordedAt: batch.lastOwnRecordedAt
            )
        )
    }

    /// One record; its length, its stream and its attachment depend on its sequence.
    private static func submission(_ sequence: Int, longest: Int) throws -> SealedSubmission {
        let facts = [UInt8](
            repeating: UInt8(truncatingIfNeeded: sequence),
            count: sequence * 7919 % (longest + 1)
        )
        let attached: [UInt8]? =
            sequence % attachedInterval == 3
            ? Array("attachment of \(sequence)".utf8) : nil
        // The highest counter is not the last record's.
        let stream = StreamNumber.number(counter: UInt64(sequence ^ 5) + 1, shard: 17)
        var randomness = RandomSource { UInt64(sequence) }
        let sealed = try SealedRecord(
            header: SealedRecord.Header(
                time: start,
                observedAt: start,
                stream: stream,
                kind: 1,
                source: 1,
                environment: 1
            ),
            signal: SignalDigest(high: 0, low: UInt64(sequence)),
            facts: facts,
            identity: [],
            key: nil,
            nonce: SealingNonce(using: &randomness),
            attached: attached == nil ? .none : .attachment,
            attachedDigest: attached.map { TreeHash.attached($0.span) },
            otherStreams: []
        )
        let record = try #require(sealed)
        return SealedSubmission(records: [record], attached: attached)
    }

    /// A log that knows no signal and no stream: nothing is refused.
    private struct EmptyIndex: LogIndex {
        func sequence(of signal: SignalDigest) -> UInt64? { nil }
        func lastSequence(of stream: UInt64) -> UInt64? { nil }
    }
}

extension SampleLog {
    /// Ways in which batches meet the borders of bundles.
    static let layouts: [[Int]] = [
        [1], [2], [255], [256], [257], [600], [1, 1, 1], [255, 1], [255, 2], [256, 1], [1, 255],
        [1, 256, 1], [3, 510, 87], [254, 1, 1, 1, 300, 43], [512, 88],
        [100, 100, 100, 100, 100, 100], Array(repeating: 1, count: 260),
    ]

    /// 600 records in random batches.
    static func random(seed: UInt64) throws -> SampleLog {
        var random = SplitMix64(seed: seed)
        var sizes: [Int] = []
        while sizes.reduce(0, +) < 600 {
            let limit = min(random.pick([1, 3, 300]), 600 - sizes.reduce(0, +))
            sizes.append(.random(in: 1...limit, using: &random))
        }
        return try SampleLog(sizes)
    }
}

extension LogStorage {
    /// Records as blocks hand them out; also checks how the blocks follow one another.
    func recordsByBlock(from first: UInt64, upTo end: UInt64) throws -> [UInt64: [UInt8]] {
        var records: [UInt64: [UInt8]] = [:]
        var next: UInt64?
        try readBlocks(from: first, upTo: end) { start, block in
            let count = try Bundle.count(block)
            #expect(count > 0)
            #expect(start < end, "a block behind the end")
            if let next {
                #expect(start == next, "blocks follow one another")
            } else {
                #expect(start <= first && first < start + UInt64(count), "the block of \(first)")
            }
            for index in 0..<count {
                let range = try Bundle.range(of: index, count: count, in: block)
                records[start + UInt64(index)] = block.copy(range)
            }
            next = start + UInt64(count)
            return true
        }
        #expect(next.map { $0 >= end } ?? (first >= end), "up to \(end)")
        return records
    }

    /// Records as they are lent one by one.
    func records(_ sequences: [UInt64]) throws -> [(UInt64, [UInt8])] {
        var records: [(UInt64, [UInt8])] = []
        try readRecords(sequences) { records.append(($0, $1.copy())) }
        return records
    }
}
