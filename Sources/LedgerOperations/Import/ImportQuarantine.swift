import DurableFiles
public import Entitlements
import EventLog
import LMDBStorage

/// What an import of a ledger refuses, kept sealed by days; what is too old goes.
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
            oldest: Quarantine.oldest(at: clock().milliseconds),
            randomness: .system
        )
        self.clock = clock
    }

    /// Destroys what is too old in the quarantine of a ledger's directory.
    ///
    /// - Returns: whether it could: false where somebody imports.
    /// - Throws: `FileFault`.
    package static func destroyOld(ofLedgerAt path: String, at now: Instant) throws -> Bool {
        do {
            try Quarantine.destroyOld(ledgerPath: path, now: now.milliseconds)
            return true
        } catch let fault as LedgerOpenFault where fault.code == .locked {
            return false
        }
    }

    /// Keeps what was refused today.
    mutating func add(_ items: [[UInt8]]) throws { try days.add(items, day: Self.day(clock())) }

    /// Lends the lines of each day, the oldest first; what the body returns stays.
    mutating func replaceEachDay(
        _ body: (_ lines: [LineReader.Line]) throws -> [[UInt8]]
    ) throws {
        for day in try days.days() {
            let lines = try days.items(of: day).enumerated().map { index, bytes in
                LineReader.Line(number: index + 1, bytes: bytes)
            }
            try days.replace(day, with: body(lines))
        }
    }

    private static func day(_ instant: Instant) -> String { String(instant.description.prefix(10)) }
}
