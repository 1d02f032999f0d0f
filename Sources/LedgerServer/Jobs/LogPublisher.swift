package import EntitlementLedger
package import EventLog
import Logging
import ServiceLifecycle

/// Signs the log's end while the server runs, publishes it, and writes the archive behind the log.
///
/// At the end of the server it does so once more: whoever holds that checkpoint holds the log to it.
struct LogPublisher: Service {
    let service: LedgerService
    let schedule: LedgerServer.PublicationSchedule

    func run() async throws {
        while await service.isTime(for: .checkpoint, after: schedule.interval) { await publish() }
        await publish()
    }

    /// Signs, publishes and archives; what fails is told, and tried again at the next time.
    func publish() async {
        do {
            let progress = try await service.blocking { [service, schedule] in
                let note = try service.ledger.prover.checkpoint()
                try schedule.publish?(note, service.ledger)
                return try schedule.archive.map {
                    try service.ledger.archiver.archive(to: $0.store, manifest: $0.manifest)
                }
            }
            service.jobs.end(.checkpoint, isDone: true)
            guard let progress else { return }
            service.logger.debug(
                "archived the log",
                metadata: ["archived": "\(progress.archived)", "sequence": "\(progress.size)"]
            )
        } catch is CancellationError {
            // A server that does not come to run has nothing new to publish.
        } catch let fault as LedgerFault {
            tell(fault.message)
        } catch let fault as LogStorageFault {
            tell(fault.message)
        } catch let fault as ArchiveFault {
            tell(fault.message)
        } catch {
            tell("\(type(of: error))")
        }
    }

    private func tell(_ fault: String) {
        service.jobs.end(.checkpoint, isDone: false)
        service.logger.error(
            "the log could not be signed, published or archived",
            metadata: ["fault": "\(fault)"]
        )
    }
}

extension LedgerServer {
    /// How often the log is signed, and where it goes then.
    package struct PublicationSchedule: Sendable {
        /// Between two checkpoints.
        package var interval: Duration
        /// Where the archive stands, and what its `ledger.json` says; nil: none is written.
        package var archive: (store: any ArchiveStore, manifest: [UInt8])?
        /// Puts a checkpoint where others find it; nil: nowhere.
        package var publish: (@Sendable (_ note: String, Ledger) throws -> Void)?

        /// What holds unless it is configured: every five minutes.
        package static let standardInterval = Duration.seconds(300)

        /// Makes a schedule.
        package init(interval: Duration = standardInterval) { self.interval = interval }
    }
}
