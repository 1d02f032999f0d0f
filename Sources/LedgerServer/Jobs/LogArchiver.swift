import EntitlementLedger
package import EventLog
import Logging

/// Writes the archive behind the log while the server runs, up to the last checkpoint, and at its end.
struct LogArchiver: ScheduledJob {
    let service: LedgerService
    let schedule: LedgerServer.ArchiveSchedule

    var job: JobBoard.Job { .archive }
    var isLeaders: Bool { true }
    var interval: Duration { schedule.interval }

    /// Archives what is new.
    func run() async -> JobRun {
        await service.keeping("the log could not be archived") { [service, schedule] in
            let progress = try service.ledger.archiver.archive(
                to: schedule.store,
                manifest: schedule.manifest
            )
            try service.ledger.prover.requireExtendsPublished()
            service.logger.debug(
                "archived the log",
                metadata: ["archived": "\(progress.archived)", "sequence": "\(progress.size)"]
            )
        }
    }

    func end() async { service.jobs.note(job, await run()) }
}

extension LedgerServer {
    /// How often the log is archived, and where.
    package struct ArchiveSchedule: Sendable {
        /// Between two runs.
        package var interval: Duration
        /// Where the archive stands.
        package var store: any ArchiveStore
        /// What its `ledger.json` says.
        package var manifest: [UInt8]

        /// What holds unless it is configured: every five minutes.
        package static let standardInterval = Duration.seconds(300)

        /// Makes a schedule.
        package init(
            interval: Duration = standardInterval,
            to store: any ArchiveStore,
            manifest: [UInt8]
        ) {
            self.interval = interval
            self.store = store
            self.manifest = manifest
        }
    }
}
