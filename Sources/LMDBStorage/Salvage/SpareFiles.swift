import Crypto
import DurableFiles
import EventLog

/// Where the small files of a ledger may be had that stand there no more, or hold something else.
package struct SpareFiles: Sendable {
    /// Directories with a copy of `ledger.json`, in the order in which they are tried.
    package var ledgers: [String]
    /// Directories with a copy of the vault's epoch keys, in the order in which they are tried.
    package var vaults: [String]

    /// Names directories, which need not be there.
    package init(ledgers: [String] = [], vaults: [String] = []) {
        self.ledgers = ledgers
        self.vaults = vaults
    }

    /// The ledger's own manifest, else the first copy that is one.
    ///
    /// - Throws: `LedgerOpenFault` of the ledger's own.
    package func manifest(of path: String) throws -> LedgerDirectory.Manifest {
        do {
            return try LedgerDirectory.manifest(at: path)
        } catch let fault as LedgerOpenFault where fault.code == .foreign {
            for folder in ledgers {
                let copy = try DurableFile.read(folder + "/" + LedgerDirectory.manifestName)
                // A copy that is damaged too is passed over for the next one.
                guard let bytes = copy,
                    let manifest = try? LedgerDirectory.manifest(reading: bytes)
                else { continue }
                return manifest
            }
            throw fault
        }
    }

    /// What an earlier salvage of the ledger lost; where its own account cannot be read, that of the
    /// first copy that has one.
    ///
    /// - Throws: `LedgerOpenFault.damaged` where no copy has one: what was lost is not forgotten.
    func loss(of path: String) throws -> KnownLoss? {
        do {
            return try LedgerDirectory.knownLoss(at: path)
        } catch let fault as LedgerOpenFault {
            for folder in ledgers {
                // What cannot be read either is looked for in the next one.
                if let loss = try? LedgerDirectory.knownLoss(at: folder) { return loss }
            }
            throw fault
        }
    }

    /// The ledger's own epoch keys, else those of the first copy that the master key opens and that
    /// are this ledger's.
    ///
    /// What an older copy opens and the log erased is not taken along (Z6).
    ///
    /// - Throws: `LedgerOpenFault` of the ledger's own.
    func epochKeys(
        of path: String,
        _ manifest: LedgerDirectory.Manifest,
        _ masterKey: SymmetricKey
    ) throws -> EpochKeys {
        var first: LedgerOpenFault?
        for folder in [path + "/" + LedgerDirectory.vaultName] + vaults {
            do {
                let wrapped = try DurableFile.read(folder + "/" + EpochKeys.fileName)
                let keys = try EpochKeyFile.open(wrapped, masterKey)
                try LedgerDirectory.requireKey(keys, of: manifest)
                return keys
            } catch let fault as LedgerOpenFault {
                first = first ?? fault
            }
        }
        throw first ?? LedgerOpenFault(.damaged, "the vault's epoch keys are missing")
    }
}
