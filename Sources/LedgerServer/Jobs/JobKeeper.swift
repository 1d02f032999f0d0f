import EntitlementLedger
import LedgerAPI
import LedgerOperations
import Synchronization

/// Keeps when jobs ran last, so that a server that is started each day does what is to be done each day.
final class JobKeeper: Sendable {
    private let service: LedgerService
    private let file: JobFile
    /// What the file holds.
    private let kept = Mutex<[JobStatus]>([])

    /// nil: the ledger stands in no directory, or is only read.
    init?(_ service: LedgerService) {
        guard let directory = service.directory, !service.ledger.isReadOnly else { return nil }
        self.service = service
        file = JobFile(ofLedgerAt: directory)
    }

    /// When jobs of an earlier server ran last.
    func takeUp() async -> [JobStatus] {
        do {
            return try await service.blocking { [self] in
                try kept.withLock { kept in
                    kept = try file.read()
                    return kept
                }
            }
        } catch is CancellationError {
            // The server ends before it began.
            return []
        } catch {
            service.faults.note(error, of: Self.job)
            return []
        }
    }

    /// Writes when jobs ran last, where it changed.
    func keep(_ board: JobBoard) async {
        do {
            try await service.blocking { [self] in
                // Read where it is written: nothing older takes the place of what is newer.
                try kept.withLock { kept in
                    let ran = board.all.filter { $0.lastRunAt != nil }.map { job in
                        var job = job
                        job.nextRunAt = nil
                        return job
                    }
                    guard ran != kept else { return }
                    try file.write(ran)
                    kept = ran
                }
            }
        } catch is CancellationError {
            // Who is cancelled keeps nothing: what ran last is done again sooner.
            return
        } catch {
            service.faults.note(error, of: Self.job)
        }
    }

    /// The word for it in the log.
    private static let job = "jobs"
}
