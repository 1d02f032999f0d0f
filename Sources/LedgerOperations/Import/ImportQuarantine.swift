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
        let oldest = clock().advanced(
            byMilliseconds: -Int64(Quarantine.dayLimit) * Instant.millisecondsPerDay
        )
        days = try Quarantine(
            ledgerPath: path,
            masterKey: masterKey,
            oldest: Self.day(oldest),
            randomness: .system
        )
        self.clock = clock
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
