import Entitlements
import EventLog

/// The part of a ledger that checks: the log against its hashes, views and kept answers against
/// the log, answers that were given against what the log gives.
public struct Auditor: Sendable {
    let questions: Questions
    let reports: Reports
    let prover: Prover
    let archiver: Archiver
    let tallies = TallyCache()
    /// nil: the ledger is only read.
    let appending: Appender?
    /// Makes a ledger of a prefix that is only read, and knows nothing but its log.
    let readAnew: @Sendable (_ size: UInt64) throws -> Ledger
}
