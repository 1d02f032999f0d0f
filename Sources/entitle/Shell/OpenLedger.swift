import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage

/// A ledger over its directory, open.
struct OpenLedger {
    let ledger: Ledger
    let directory: OpenLedgerDirectory

    /// Opens it; others who would write are told of `recovery` meanwhile.
    init(
        at path: String,
        masterKey: [UInt8],
        writing: Bool,
        recovery: Recovery? = nil
    ) throws {
        let clock: @Sendable () -> Instant = SystemClock.now
        directory = try OpenLedgerDirectory(
            at: path,
            masterKey: masterKey,
            forWriting: writing,
            mapSize: try Settings.current.checkedMapSize(),
            clock: { clock().milliseconds },
            randomness: .system
        )
        do {
            directory.announce(.opening)
            guard let id = Hexadecimal.decode(directory.manifest.ledger), id.count == 16 else {
                throw LedgerOpenFault(.foreign, "its ledger.json has no ledger id")
            }
            ledger = try Ledger(
                identity: LedgerIdentity(id: id, origin: directory.manifest.origin),
                log: directory.log,
                vault: directory.vault,
                options: Ledger.Options(
                    viewsPath: path + "/" + LedgerDirectory.viewsName,
                    bootID: SystemClock.bootID,
                    isReadOnly: !writing,
                    clock: clock,
                    knownLoss: directory.knownLoss,
                    published: directory.published
                )
            )
            directory.announce(recovery)
        } catch {
            directory.close()
            throw error
        }
    }

    func close() {
        do {
            try ledger.close()
        } catch {
            // What was recorded stands (E3): views are remade from it at any time.
            Terminal.note(
                "warning: the views could not be written; `entitle rebuild` makes them anew"
            )
        }
        directory.close()
    }

    /// What was recorded stands; views that do not close cleanly are followed up later.
    ///
    /// After a fault of the storage the next command checks the ledger first.
    func close(after error: any Error) {
        try? ledger.close()
        directory.close(isClean: !(error is LogStorageFault))
    }
}
