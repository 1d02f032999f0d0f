import Entitlements
import LedgerOperations
import Logging

/// Destroys what imports refused once it was kept for long enough, also where nobody imports any more.
struct QuarantineWatch: ScheduledJob {
    let service: LedgerService
    /// The ledger's.
    let directory: String

    var interval: Duration { .seconds(86_400) }
    /// At each start: it costs a look into a folder, and a status tells that it is done.
    var firstWait: Duration { .zero }
    var job: JobBoard.Job { .quarantine }

    func run() async -> JobRun {
        do {
            let isDone = try await service.blocking { [service, directory] in
                try ImportQuarantine.destroyOld(
                    of: service.ledger,
                    inDirectory: directory,
                    at: service.clock()
                )
            }
            return isDone ? .done : .postponed(.seconds(3600))
        } catch is CancellationError {
            // The server stops, maybe before it came to run.
            return .ended
        } catch {
            service.logger.error(
                "what imports refused long ago could not be destroyed",
                metadata: ["fault": "\(type(of: error))"]
            )
            return .failed()
        }
    }
}
