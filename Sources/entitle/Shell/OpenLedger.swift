import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage

/// A ledger over its directory, open.
struct OpenLedger {
    let ledger: Ledger
    let directory: OpenLedgerDirectory

    /// Opens it; others who would write are told of `recovery` meanwhile.
    ///
    /// `acceptedClock`: the date, as somebody confirms it for the log as it stands (T3).
    init(
        at path: String,
        masterKey: [UInt8],
        renewedKey: (@Sendable () throws -> [UInt8])? = nil,
        writing: Bool,
        recovery: Recovery? = nil,
        acceptedClock: Instant? = nil
    ) throws {
        let clock: @Sendable () -> Instant = SystemClock.now
        directory = try OpenLedgerDirectory(
            at: path,
            masterKey: masterKey,
            renewedKey: renewedKey,
            forWriting: writing,
            mapSize: try Settings.current.checkedMapSize(),
            clock: { clock().milliseconds },
            randomness: .system
        )
        do {
            directory.announce(.opening)
            if writing, let acceptedClock {
                try LedgerDirectory.accept(
                    clock: acceptedClock.milliseconds,
                    size: directory.log.end().size,
                    at: path
                )
            }
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
                    clockWitness: SystemClock.witness(of: path),
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
        directory.close(isClean: !(error is LogStorageFault || error is FileFault))
    }
}

/// A ledger whose master key is not at hand: only what needs no name and opens nothing.
enum KeylessLedger {
    /// Lends it, to be read.
    static func with<Result>(
        _ options: LedgerOptions,
        _ body: (Ledger) throws -> Result
    ) throws -> Result {
        let (manifest, log) = try LedgerDirectory.openLog(
            at: options.path,
            mapSize: Settings.current.checkedMapSize()
        )
        defer { log.close() }
        guard let id = Hexadecimal.decode(manifest.ledger), id.count == 16,
            let publicKey = try? VerifierKey(parsing: manifest.publicKey)
        else { throw LedgerOpenFault(.foreign, "its ledger.json has no ledger id or public key") }
        let ledger = try Ledger(
            identity: LedgerIdentity(id: id, origin: manifest.origin),
            log: log,
            vault: KeylessVault(publicKey: publicKey),
            options: Ledger.Options(
                viewsPath: options.path + "/" + LedgerDirectory.viewsName,
                bootID: SystemClock.bootID,
                isReadOnly: true,
                clock: SystemClock.now
            )
        )
        let result = try body(ledger)
        try ledger.close()
        return result
    }
}
