import EventLog

@testable import LMDBStorage

extension LedgerDirectory {
    /// Makes a ledger's directory as tests of the storage want it.
    static func createSample(at path: String, masterKey: [UInt8]) throws {
        try create(
            at: path,
            masterKey: masterKey,
            origin: "ledger.test/log",
            created: "2026-01-01T00:00:00.000Z",
            randomness: .system
        )
    }
}
