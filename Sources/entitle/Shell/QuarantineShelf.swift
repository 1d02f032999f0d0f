import Entitlements
import EventLog
import LMDBStorage
import LedgerOperations

/// The quarantine of the ledger in hand.
enum QuarantineShelf {
    static func open(_ options: LedgerOptions) throws -> Quarantine {
        let oldest = SystemClock.now().advanced(
            byMilliseconds: -Int64(Quarantine.dayLimit) * Instant.millisecondsPerDay
        )
        return try Quarantine(
            ledgerPath: options.path,
            masterKey: try MasterKey.read(options),
            oldest: day(oldest),
            randomness: .system
        )
    }

    static var today: String { day(SystemClock.now()) }

    private static func day(_ instant: Instant) -> String { String(instant.description.prefix(10)) }
}
