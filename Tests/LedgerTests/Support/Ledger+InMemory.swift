import EntitlementLedger
import EventLog

extension Ledger {
    /// A ledger over a log and with names of its own in memory, which begins with a new year.
    convenience init(over log: any LogStorage, viewsIn folder: String) throws {
        try self.init(
            identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "x/log"),
            log: log,
            vault: MemoryVault(randomness: .system),
            options: Ledger.Options(
                viewsPath: folder,
                bootID: "test",
                isReadOnly: false,
                clock: { Sample.newYear }
            )
        )
    }
}
