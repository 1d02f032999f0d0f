import EntitlementLedger
import Entitlements
import EventLog
import FoundationEssentials
import ModelSupport

/// A ledger whose records are what an input says, under the keys of one that was recorded.
///
/// Nothing is written: it is read as a reader reads that has no views.
struct FuzzedLedger {
    private let log = MemoryLog()
    private let vault: MemoryVault
    private let views: URL
    /// The customers that were recorded.
    let customers: [CustomerID]

    /// After every event of the histories.
    static let now = Instant(milliseconds: 1_893_456_000_000)

    /// Records histories; one seed makes the same bytes in every process.
    init(histories: Range<UInt64>) throws {
        let words = SeededWords(histories.lowerBound)
        let randomness = RandomSource { words.next() }
        vault = try MemoryVault(randomness: randomness)
        views = FileManager.default.temporaryDirectory
            .appending(path: "entitle-fuzz-views-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: views, withIntermediateDirectories: true)
        let ledger = try Ledger(
            identity: Self.identity,
            log: log,
            vault: vault,
            options: Self.options(views, isReadOnly: false, randomness)
        )
        var customers: Set<CustomerID> = []
        for seed in histories {
            for (index, recorded) in RandomHistory(seed: seed).log.enumerated() {
                // C6: an erasure is not recorded so.
                guard recorded.kind != .customerErased else { continue }
                var event = recorded.event
                event.id = "\(seed)-\(index)"
                if case .customer(let id) = event.subject { customers.insert(id) }
                _ = try ledger.appender.record(Submission(event: event))
            }
        }
        self.customers = customers.sorted()
        try ledger.close()
        try FileManager.default.removeItem(at: views)
        try FileManager.default.createDirectory(at: views, withIntermediateDirectories: true)
    }

    private static let identity = LedgerIdentity(
        id: (0..<16).map { UInt8($0) },
        origin: "ledger.test/log"
    )

    private static func options(
        _ views: URL,
        isReadOnly: Bool,
        _ randomness: RandomSource
    ) -> Ledger.Options {
        Ledger.Options(
            viewsPath: views.path,
            bootID: "fuzz",
            isReadOnly: isReadOnly,
            clock: { now },
            randomness: randomness
        )
    }

    /// What was recorded, whole.
    func ledger() throws -> Ledger { try ledger(over: log) }

    /// A ledger over other records.
    func ledger(over log: any LogStorage) throws -> Ledger {
        try Ledger(
            identity: Self.identity,
            log: log,
            vault: vault,
            options: Self.options(views, isReadOnly: true, .system)
        )
    }

    /// The records as they stand.
    func records() throws -> [[UInt8]] {
        let end = log.end()
        var records: [[UInt8]] = []
        try log.readRecords(Array(0..<end.size)) { records.append($1.copy()) }
        return records
    }

    /// What a record carries.
    func attached(at sequence: UInt64) -> [UInt8]? { log.attached(at: sequence) }
}
