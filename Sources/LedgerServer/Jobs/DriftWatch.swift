import EntitlementLedger
import Entitlements
import LedgerAPI
import Logging

/// Folds a rolling sample of customers again while the server runs, and holds it against what the
/// live views answer (row Z13): whoever runs it learns of a difference before support does.
///
/// Once an environment's customers were all sampled, it is the next one's turn.
struct DriftWatch: ScheduledJob {
    let service: LedgerService
    let schedule: LedgerServer.DriftSchedule

    /// Where the next sample begins.
    private var place = Place()

    /// Where a sample begins.
    struct Place: Hashable, Sendable {
        /// Whose customers they are.
        var environment = StoreEnvironment.production
        /// As `CustomerSample` takes it.
        var start: UInt64 = 0

        /// The first of the next environment.
        var following: Place {
            let all = StoreEnvironment.allCases
            return Place(environment: all[(Int(environment.rawValue) + 1) % all.count])
        }
    }

    init(service: LedgerService, schedule: LedgerServer.DriftSchedule) {
        self.service = service
        self.schedule = schedule
    }

    var job: JobBoard.Job { .drift }
    var interval: Duration { schedule.interval }

    mutating func run() async -> JobRun {
        guard let next = await check(from: place) else {
            return service.isEnded() ? .ended : .failed()
        }
        place = next
        return .done
    }

    /// Checks a sample, counts it and tells of differences; returns where the next one begins, nil
    /// if this one could not be finished.
    func check(from place: Place) async -> Place? {
        var place = place
        do {
            var report = try await fold(place)
            // One without customers takes no turn from the others.
            for _ in StoreEnvironment.allCases.dropFirst() where report.population == 0 {
                place = place.following
                report = try await fold(place)
            }
            service.metrics.drift.count(report, at: service.clock())
            tell(report)
            // Behind the last customer the sample went on with the first.
            guard report.next > place.start else { return place.following }
            return Place(environment: place.environment, start: report.next)
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

    private func fold(_ place: Place) async throws -> DriftReport {
        let sample = CustomerSample(from: place.start, count: schedule.sample)
        return try await service.blocking { [service] in
            try service.ledger.auditor.drift(
                of: sample,
                environment: place.environment,
                at: service.clock()
            )
        }
    }

    private func tell(_ report: DriftReport) {
        let counts: Logger.Metadata = [
            "environment": "\(report.environment.name)",
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
