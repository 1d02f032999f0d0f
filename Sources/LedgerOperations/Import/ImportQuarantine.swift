import DurableFiles
package import EntitlementLedger
public import Entitlements
import EventLog
import LMDBStorage

/// What an import of a ledger refuses, kept sealed by days; what is too old goes when the ledger is opened to
/// be written to, and with a server's time.
public struct ImportQuarantine {
    private var days: Quarantine
    private let clock: @Sendable () -> Instant

    /// Opens the quarantine of a ledger's directory.
    ///
    /// - Throws: `FileFault`.
    public init(
        ofLedgerAt path: String,
        masterKey: [UInt8],
        clock: @escaping @Sendable () -> Instant = SystemClock.now
    ) throws {
        days = try Quarantine(
            ledgerPath: path,
            masterKey: masterKey,
            randomness: .system
        )
        self.clock = clock
    }

    /// Destroys what is too old in the quarantine of a ledger's directory, by a clock that the ledger believes:
    /// what was refused is nowhere else.
    ///
    /// - Returns: whether it could: false where somebody imports, or appends would wait for the clock (T3).
    /// - Throws: `FileFault`, `LogStorageFault`.
    package static func destroyOld(
        of ledger: Ledger,
        inDirectory path: String,
        at now: Instant
    ) throws -> Bool {
        guard DurableFile.exists(path + "/" + Quarantine.directoryName) else { return true }
        do {
            try ledger.appender.requireClock()
            try Quarantine.destroyOld(ledgerPath: path, now: now.milliseconds)
            return true
        } catch let fault as LedgerOpenFault where fault.code == .locked {
            return false
        } catch let fault as LedgerFault where [.clockAhead, .clockBehind].contains(fault.code) {
            return false
        }
    }

    /// Keeps what was refused today.
    mutating func add(_ items: [[UInt8]]) throws { try days.add(items, day: Self.day(clock())) }

    /// Lends the lines of each day, the oldest first; what the body returns stays.
    ///
    /// Of a day of which an erasure took some meanwhile all the others stay.
    mutating func replaceEachDay(
        _ body: (_ lines: [LineReader.Line]) throws -> [[UInt8]]
    ) throws {
        for day in try days.days() {
            let items = try days.items(of: day)
            let lines = items.enumerated().map { index, bytes in
                LineReader.Line(number: index + 1, bytes: bytes)
            }
            try days.replace(items, of: day, with: body(lines))
        }
    }

    private static func day(_ instant: Instant) -> String { String(instant.description.prefix(10)) }
}
