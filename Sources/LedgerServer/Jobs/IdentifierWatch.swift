import EntitlementLedger
import Logging

/// Reads ids of transactions for the search while the server runs, behind whoever asks (row 8.6).
///
/// A ledger that was written without it is read from its beginning, a batch at a time.
struct IdentifierWatch: ScheduledJob {
    let service: LedgerService

    /// How much longer it rests than it reads: requests and imports keep four fifths of its core.
    private static let rest = 4

    /// What was recorded since is read by whoever searches.
    var interval: Duration { .seconds(5) }
    var firstWait: Duration { .seconds(1) }
    var job: JobBoard.Job { .identifiers }

    func run() async -> JobRun {
        do {
            while true {
                let start = ContinuousClock.now
                let left = try await service.blocking { [service] in
                    try service.ledger.identifiers.readOn()
                }
                if left == 0 { return .done }
                guard await ((ContinuousClock.now - start) * Self.rest).passes() else {
                    return .ended
                }
            }
        } catch is CancellationError {
            // The server stops, maybe before it came to run.
            return .ended
        } catch {
            service.logger.error(
                "ids of transactions could not be read for the search",
                metadata: ["fault": "\(type(of: error))"]
            )
            return .failed()
        }
    }
}
