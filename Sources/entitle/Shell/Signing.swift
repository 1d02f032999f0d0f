import EntitlementLedger
import EventLog
import LMDBStorage
import LedgerOperations

/// Signed checkpoints of a ledger that somebody else may be writing to.
enum Signing {
    /// Signs the log's end, unless the log was restored to less than a published checkpoint.
    static func signIfAllowed(_ ledger: Ledger) throws {
        do {
            _ = try ledger.checkpoint()
        } catch let fault as LedgerFault where fault.code == .shortened {
            Terminal.note("warning: no checkpoint: \(fault.message)")
        }
    }

    /// Runs a body over a ledger whose last checkpoint is as new as can be: signed now, or, where
    /// another process writes or the disk is full, the last one that was signed.
    static func withCheckpointed<Result>(
        _ options: LedgerOptions,
        _ body: (OpenLedger) throws -> Result
    ) throws -> Result {
        let open: OpenLedger
        do {
            open = try openSigned(options)
        } catch let fault as LedgerOpenFault where fault.code == .locked {
            open = try options.open(writing: false)
        } catch  where CommandFailure(error).isFullDisk {
            Terminal.note("warning: no new checkpoint: the ledger's disk is full")
            open = try options.open(writing: false)
        }
        return try closing(open) { try body(open) }
    }

    private static func openSigned(_ options: LedgerOptions) throws -> OpenLedger {
        let open = try options.open(writing: true)
        do {
            try signIfAllowed(open.ledger)
            return open
        } catch {
            open.close(after: error)
            throw error
        }
    }

    private static func closing<Result>(
        _ open: OpenLedger,
        _ body: () throws -> Result
    ) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            open.close(after: error)
            throw error
        }
        open.end()
        return result
    }
}
