import DurableFiles
package import EntitlementLedger
import EventLog
import Glibc
import LMDBStorage

/// Signed checkpoints of a ledger that somebody else may be writing to.
package enum Signing {
    /// Signs the log's end, unless the log was restored to less than a published checkpoint.
    ///
    /// `warn`: told why none was signed.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package static func signIfAllowed(_ ledger: Ledger, warn: (String) -> Void) throws {
        do {
            _ = try ledger.prover.checkpoint()
        } catch let fault as LedgerFault where fault.code == .shortened {
            warn("no checkpoint: \(fault.message)")
        }
    }

    /// Opens a ledger whose last checkpoint is as new as can be: signed now, or, where another process
    /// writes, the disk is full or the file system is read-only, the last one that was signed.
    ///
    /// `open`: opens it, to be written to or only to be read.
    ///
    /// - Throws: what opening throws; `LedgerFault`, `LogStorageFault`.
    package static func openCheckpointed(
        warn: (String) -> Void,
        _ open: (_ writing: Bool) throws -> OpenLedger
    ) throws -> OpenLedger {
        do {
            let writer = try open(true)
            do {
                try signIfAllowed(writer.ledger, warn: warn)
                return writer
            } catch {
                writer.close(after: error)
                throw error
            }
        } catch let fault as LedgerOpenFault where [.locked, .clustered].contains(fault.code) {
            return try open(false)
        } catch  where LogStorageFault.isFullDisk(error) {
            warn("no new checkpoint: the ledger's disk is full")
            return try open(false)
        } catch let fault as FileFault where fault.code == EROFS {
            warn("no new checkpoint: the ledger's file system is read-only")
            return try open(false)
        }
    }
}
