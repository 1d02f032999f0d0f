import EntitlementLedger
import Entitlements
import LedgerAPI
import Logging

/// Folds a rolling sample of customers again while the server runs, and holds it against what the
/// live views answer (row Z13): whoever runs it learns of a difference before support does.
struct DriftWatch: ScheduledJob {
    let service: LedgerService
    let schedule: LedgerServer.DriftSchedule

    /// Where the next sample begins.
    private var start: UInt64 = 0

    init(service: LedgerService, schedule: LedgerServer.DriftSchedule) {
        self.service = service
        self.schedule = schedule
    }

    var job: JobBoard.Job { .drift }
    var interval: Duration { schedule.interval }

    mutating func run() async -> JobRun {
        guard let next = await check(from: start) else {
            return service.isEnded() ? .ended : .failed()
        }
        start = next
        return .done
    }

    /// Checks a sample, counts it and tells of differences; returns where the next one begins, nil
    /// if this one could not be finished.
    func check(from start: UInt64) async -> UInt64? {
        let sample = CustomerSample(from: start, count: schedule.sample)
        do {
            let report = try await service.blocking { [service] in
                try service.ledger.auditor.drift(
                    of: sample,
                    environment: .production,
                    at: service.clock()
                )
            }
            service.metrics.drift.count(report, at: service.clock())
            tell(report)
            return report.next
        } catch is CancellationError {
            return nil
        } catch {
            service.metrics.drift.countFailure()
            service.logger.error(
                "the drift check could not be finished",
                metadata: ["fault": "\(type(of: error))"]
            )
            return nil
        }
    }

    private func tell(_ report: DriftReport) {
        let counts: Logger.Metadata = [
            "customers": "\(report.customers)", "differences": "\(report.differences.count)",
            "sequence": "\(report.size)",
        ]
        guard !report.isOK else {
            service.logger.debug("live views answer as the log does", metadata: counts)
            return
        }
        let kinds = Set(report.differences.map(\.kind.rawValue)).sorted()
        service.logger.error(
            "live views answer otherwise than the log: run `entitle rebuild`",
            metadata: counts.merging(["views": "\(kinds.joined(separator: " "))"]) { $1 }
        )
    }
}

extension LedgerServer {
    /// How often live views are held against the log, and how many customers of them.
    package struct DriftSchedule: Sendable {
        /// Between two checks.
        package var interval: Duration
        /// Customers of a check, about.
        package var sample: Int

        /// Makes a schedule.
        package init(interval: Duration, sample: Int) {
            self.interval = interval
            self.sample = sample
        }

        /// What holds unless it is configured: a thousand customers an hour.
        package static let standard = DriftSchedule(interval: .seconds(3600), sample: 1000)
    }
}
