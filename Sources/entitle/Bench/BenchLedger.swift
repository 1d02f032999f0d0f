import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import Synchronization

/// A ledger in a temporary directory, with a catalog.
///
/// Unlike a command it keeps the parts beneath the ledger at hand, so that references work on the
/// very bytes that were recorded.
final class BenchLedger: Sendable {
    let path: String
    let ledger: Ledger
    let directory: OpenLedgerDirectory
    private let clockReads = Counter()
    private let isClosed = Atomic(false)

    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    static let key = [UInt8](repeating: 7, count: MasterKey.byteCount)

    /// Makes an empty ledger and publishes the catalog.
    convenience init(making path: String) throws {
        try LedgerDirectory.create(
            at: path,
            masterKey: Self.key,
            origin: "bench.local/log",
            created: SystemClock.now().description,
            randomness: .system
        )
        try OutputFile.create(
            Hexadecimal.encode(Self.key),
            at: path + "/" + LedgerDirectory.keyName
        )
        try self.init(opening: path)
        try require(ledger.record([Submission(event: BenchCatalog.event)]))
    }

    /// Opens a ledger that stands.
    init(opening path: String) throws {
        self.path = path
        let clockReads = clockReads
        let clock: @Sendable () -> Instant = {
            clockReads.count.add(1, ordering: .relaxed)
            return SystemClock.now()
        }
        directory = try OpenLedgerDirectory(
            at: path,
            masterKey: Self.key,
            forWriting: true,
            clock: { SystemClock.now().milliseconds },
            randomness: .system
        )
        ledger = try Ledger(
            identity: LedgerIdentity(
                id: Hexadecimal.decode(directory.manifest.ledger) ?? [],
                origin: directory.manifest.origin
            ),
            log: directory.log,
            vault: directory.vault,
            options: Ledger.Options(
                viewsPath: path + "/" + LedgerDirectory.viewsName,
                bootID: SystemClock.bootID,
                isReadOnly: false,
                clock: clock
            )
        )
    }

    /// Commits so far: the writer reads the clock once for each group.
    var commits: Int { clockReads.count.load(ordering: .relaxed) }

    /// Closes ledger, log and vault; closing twice does nothing.
    func close() throws {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        try ledger.close()
        directory.close()
    }

    /// Closes the ledger and removes its files.
    func discard() throws {
        try close()
        try FileManager.default.removeItem(atPath: path)
    }

    /// Records a group, every event of which must be new.
    func record(_ submissions: [Submission]) throws {
        try require(ledger.record(submissions))
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
        let size = try ledger.size()
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

    /// Copies of the records from a sequence on.
    func records(from first: UInt64) throws -> [[UInt8]] {
        var records: [[UInt8]] = []
        try scan(from: first) { records.append($1.copy()) }
        return records
    }
}
