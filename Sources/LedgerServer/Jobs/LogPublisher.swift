package import EntitlementLedger
import EventLog
import Logging

/// Signs the log's end while the server runs, and publishes it.
///
/// At the end of the server it does so once more: whoever holds that checkpoint holds the log to it.
struct LogPublisher: ScheduledJob {
    let service: LedgerService
    let schedule: LedgerServer.PublicationSchedule

    var job: JobBoard.Job { .checkpoint }
    var isLeaders: Bool { true }
    var interval: Duration { schedule.interval }

    /// Signs and publishes.
    func run() async -> JobRun {
        await service.keeping("the log could not be signed or published") { [service, schedule] in
            let note = try service.ledger.prover.checkpoint()
            try schedule.publish?(note, service.ledger)
        }
    }

    func end() async { service.jobs.note(job, await run()) }
}

extension LedgerService {
    /// Does a part of what keeps the log; what fails is told.
    func keeping(
        _ message: Logger.Message,
        _ body: @escaping @Sendable () throws -> Void
    ) async -> JobRun {
        let fault: String
        do {
            try await blocking(body)
            return .done
        } catch is CancellationError {
            // A server that does not come to run has nothing new to keep.
            return .ended
        } catch let error as LedgerFault {
            fault = error.message
        } catch let error as LogStorageFault {
            fault = error.message
        } catch let error as ArchiveFault {
            fault = error.message
        } catch {
            fault = "\(type(of: error))"
        }
        logger.error(message, metadata: ["fault": "\(fault)"])
        return .failed()
    }
}

extension LedgerServer {
    /// How often the log is signed, and where it goes then.
    package struct PublicationSchedule: Sendable {
        /// Between two checkpoints.
        package var interval: Duration
        /// Puts a checkpoint where others find it; nil: nowhere.
        package var publish: (@Sendable (_ note: String, Ledger) throws -> Void)?

        /// What holds unless it is configured: every five minutes.
        package static let standardInterval = Duration.seconds(300)

        /// Makes a schedule.
        package init(interval: Duration = standardInterval) { self.interval = interval }
    }
}
