import DurableFiles
public import EntitlementLedger
import EventLog
import LMDBStorage

extension Ledger {
    /// Opens the ledger of a directory: log, vault, views, clock, master key and writer's lock.
    ///
    /// `path` is the ledger's directory. Closing the ledger closes all of them.
    ///
    /// - Throws: `LedgerOpenFault`, `LogStorageFault`, `OperationFault` for a key that cannot be
    ///   read, or what the views' files throw.
    public static func open(
        at path: String,
        options: OpenLedger.Options = OpenLedger.Options()
    ) throws -> Ledger {
        if options.createsIfMissing, try DurableFile.names(in: path).isEmpty {
            try create(at: path, options: options)
        }
        return try OpenLedger(at: path, options: options).ledger
    }

    /// Opens a ledger whose master key is not at hand: it is read, and only what needs no name and
    /// opens nothing can be asked of it, such as its status or whether its hashes hold.
    ///
    /// - Throws: `LedgerOpenFault`, `LogStorageFault`.
    package static func openWithoutKey(
        at path: String,
        mapSize: Int = MapSize.usual
    ) throws -> Ledger {
        let (manifest, log) = try LedgerDirectory.openLog(at: path, mapSize: mapSize)
        do {
            guard let publicKey = try? VerifierKey(parsing: manifest.publicKey) else {
                throw LedgerOpenFault(.foreign, "its ledger.json has no public key")
            }
            return try Ledger(
                identity: manifest.identity(),
                reading: log,
                publicKey: publicKey,
                options: Options(
                    viewsPath: path + "/" + LedgerDirectory.viewsName,
                    bootID: SystemClock.bootID,
                    isReadOnly: true,
                    clock: SystemClock.now,
                    release: { _ in log.close() }
                )
            )
        } catch {
            log.close()
            throw error
        }
    }
}
