import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import ModelSupport
import Synchronization

/// A clock that a test sets.
final class TestClock: Sendable {
    private let milliseconds: Atomic<Int64>
    private let witnesses = Mutex(Witnesses())

    /// What is said of the clock; unless a test says otherwise it is synchronised.
    struct Witnesses {
        var elapsed: Int64 = 0
        var isSynchronized = true
        var confirmation: ClockWitness.Confirmation?
    }

    /// 2026-06-01T00:00:00Z unless given.
    init(_ now: Instant = Instant(milliseconds: 1_780_272_000_000)) {
        milliseconds = Atomic(now.milliseconds)
    }

    var now: Instant {
        get { Instant(milliseconds: milliseconds.load(ordering: .sequentiallyConsistent)) }
        set { milliseconds.store(newValue.milliseconds, ordering: .sequentiallyConsistent) }
    }

    /// Changes what is said of it.
    func witness(_ body: (inout Witnesses) -> Void) { witnesses.withLock { body(&$0) } }

    var witness: ClockWitness {
        ClockWitness(
            elapsed: { self.witnesses.withLock { $0.elapsed } },
            isSynchronized: { self.witnesses.withLock { $0.isSynchronized } },
            confirmation: { self.witnesses.withLock { $0.confirmation } }
        )
    }
}

/// A new ledger with its key, open for writing, in a directory that goes with it.
final class ScratchLedger {
    let path: String
    let clock: TestClock
    private(set) var ledger: Ledger
    private(set) var directory: OpenLedgerDirectory
    private var isOpen = true

    static let masterKey = (0..<32).map { UInt8($0) }

    /// Lends a ledger; it is closed and removed when the body ends.
    static func with<Result>(
        clock: TestClock = TestClock(),
        _ body: (ScratchLedger) async throws -> Result
    ) async throws -> Result {
        try await withScratchDirectory { folder in
            let scratch = try ScratchLedger(path: folder + "/ledger", clock: clock)
            defer { try? scratch.close() }
            return try await body(scratch)
        }
    }

    private init(path: String, clock: TestClock) throws {
        self.path = path
        self.clock = clock
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let key = Data((Hexadecimal.encode(Self.masterKey) + "\n").utf8)
        try key.write(to: URL(filePath: path + "/" + LedgerDirectory.keyName))
        try Ledger.create(at: path, options: Self.options(clock))
        (directory, ledger) = try Self.open(path, clock)
    }

    /// What ledgers of tests are opened with.
    static func options(_ clock: TestClock, isReadOnly: Bool = false) -> OpenLedger.Options {
        var options = OpenLedger.Options(key: .bytes(masterKey), isReadOnly: isReadOnly)
        options.origin = "ledger.test/log"
        options.clock = { clock.now }
        options.clockWitness = clock.witness
        options.bootID = "test"
        return options
    }

    private static func open(
        _ path: String,
        _ clock: TestClock
    ) throws -> (OpenLedgerDirectory, Ledger) {
        let open = try OpenLedger(at: path, options: options(clock))
        return (open.directory, open.ledger)
    }

    private static func viewsPath(of path: String) -> String {
        path + "/" + LedgerDirectory.viewsName
    }

    var viewsPath: String { Self.viewsPath(of: path) }

    func close() throws {
        guard isOpen else { return }
        isOpen = false
        try Forking.lock.withLock { _ in try ledger.close() }
    }

    /// Opens it again; closes it first if it is open.
    func reopen() throws {
        try close()
        (directory, ledger) = try Self.open(path, clock)
        isOpen = true
    }

    /// Closes it, takes its views away and opens it again.
    func reopenWithoutViews() throws {
        try close()
        try FileManager.default.removeItem(atPath: viewsPath)
        try FileManager.default.createDirectory(
            atPath: viewsPath,
            withIntermediateDirectories: true
        )
        try reopen()
    }

    /// Opens the directory as another process would.
    func openBeside() throws -> OpenLedgerDirectory {
        try OpenLedgerDirectory(
            at: path,
            masterKey: Self.masterKey,
            forWriting: true,
            clock: { [clock] in clock.now.milliseconds },
            randomness: .system
        )
    }

    /// Tells other writers what goes on.
    func announce(_ recovery: Recovery?) { directory.announce(recovery) }

    /// The bytes of a record.
    func record(at sequence: UInt64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try directory.log.readRecords([sequence]) { _, record in
            bytes = record.indices.map { record[$0] }
        }
        return bytes
    }

    /// The sequences of the events that are listed.
    func sequences(_ filter: EventFilter) throws -> [UInt64] {
        var sequences: [UInt64] = []
        try ledger.questions.events(filter) { sequence, _ in
            sequences.append(sequence)
            return true
        }
        return sequences
    }

    /// The answer to `show`.
    func show(
        _ customer: CustomerID,
        at: Instant? = nil,
        known: BitemporalPoint.Known = .everything,
        environment: StoreEnvironment = .production
    ) throws -> JSONValue {
        try ledger.questions.show(
            CustomerQuestion(
                customer: customer,
                environment: environment,
                point: BitemporalPoint(at: at ?? clock.now, knownAt: known)
            )
        ).json
    }
}
