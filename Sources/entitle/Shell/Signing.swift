import EntitlementLedger
import EventLog
import LMDBStorage

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
    /// another process writes, the last one that it signed.
    static func withCheckpointed<Result>(
        _ options: LedgerOptions,
        _ body: (OpenLedger) throws -> Result
    ) throws -> Result {
        do {
            let open = try options.open(writing: true)
            return try closing(open) {
                try signIfAllowed(open.ledger)
                return try body(open)
            }
        } catch let fault as LedgerOpenFault where fault.code == .locked {
            let open = try options.open(writing: false)
            return try closing(open) { try body(open) }
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
        open.close()
        return result
    }
}
