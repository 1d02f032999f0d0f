import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import Synchronization

/// A ledger in a temporary directory, with a catalog.
///
/// Unlike a command it keeps the parts beneath the ledger at hand, so that references work on the
/// very bytes that were recorded.
final class BenchLedger: Sendable {
    let path: String
    let ledger: Ledger
    private let directory: OpenLedgerDirectory
    private let witnessReads = Counter()

    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    static let key = [UInt8](repeating: 7, count: MasterKey.byteCount)

    /// Makes an empty ledger and publishes the catalog.
    convenience init(making path: String) throws {
        var options = OpenLedger.Options(key: .bytes(Self.key))
        options.origin = "bench.local/log"
        try Ledger.create(at: path, options: options)
        try OutputFile.create(
            Hexadecimal.encode(Self.key),
            at: path + "/" + LedgerDirectory.keyName
        )
        try self.init(opening: path)
        try require(ledger.appender.record([Submission(event: BenchCatalog.event)]))
    }

    /// Opens a ledger that stands.
    init(opening path: String) throws {
        self.path = path
        let witnessReads = witnessReads
        var options = OpenLedger.Options(key: .bytes(Self.key))
        options.clockWitness = ClockWitness(
            elapsed: {
                witnessReads.count.add(1, ordering: .relaxed)
                return 0
            },
            isSynchronized: { true },
            confirmation: { nil }
        )
        let open = try OpenLedger(at: path, options: options)
        (ledger, directory) = (open.ledger, open.directory)
    }

    /// Commits so far: the writer asks the clock's witness before and after each group, but for
    /// the first, which it asks after.
    var commits: Int { (witnessReads.count.load(ordering: .relaxed) + 1) / 2 }

    /// Closes ledger, log and vault.
    func close() throws { try ledger.close() }

    /// Closes the ledger and removes its files.
    func discard() throws {
        try close()
        try FileManager.default.removeItem(atPath: path)
    }

    /// Records a group, every event of which must be new.
    func record(_ submissions: [Submission]) throws {
        try require(ledger.appender.record(submissions))
    }

    private func require(_ receipts: [Receipt]) throws {
        for receipt in receipts { try Self.requireAppended(receipt) }
    }

    /// Every event of a benchmark is new.
    static func requireAppended(_ receipt: Receipt) throws {
        guard case .appended = receipt else { return try requireRight(false, "all are appended") }
    }

    /// Records events in groups; returns what each group cost, its making apart.
    func record(all events: BenchEvents, groupsOf size: Int) throws -> [Cost] {
        var events = events
        var costs: [Cost] = []
        while true {
            let group = events.submissions(size)
            if group.isEmpty { return costs }
            costs.append(try Stopwatch.cost { try record(group) })
        }
    }

    // MARK: The log's bytes

    /// Lends the records of a part of the log, ascending.
    func scan(
        from first: UInt64 = 0,
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        let size = try ledger.questions.size()
        try directory.log.readBlocks(from: first, upTo: size) { start, block in
            let count = try Bundle.count(block)
            for index in 0..<count {
                let sequence = start + UInt64(index)
                guard sequence >= first else { continue }
                let range = try Bundle.range(of: index, count: count, in: block)
                try body(sequence, block.extracting(range))
            }
            return true
        }
    }

    /// The root of the tree over the first records.
    func root(size: UInt64) throws -> EventLog.Digest {
        try TreeReader(LogTiles(directory.log)).root(size: size)
    }

    /// Copies of the records from a sequence on.
    func records(from first: UInt64) throws -> [[UInt8]] {
        var records: [[UInt8]] = []
        try scan(from: first) { records.append($1.copy()) }
        return records
    }
}
