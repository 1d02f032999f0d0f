import EntitlementLedger
import Entitlements
import LedgerAPI
import Logging
import ServiceLifecycle

/// Looks at the reports that are kept summed up, which moves them along, and shows their figures
/// (row 10.6).
///
/// A scrape reads what the last look found: it costs no look at the log.
struct ReportWatch: Service {
    let service: LedgerService
    let interval: Duration

    /// Ten minutes.
    static let standardInterval = Duration.seconds(600)

    /// Looks until the server is told to stop; first after one interval.
    func run() async throws {
        while await service.isTime(for: .reports, after: interval) {
            // Whoever stops the server does not wait for reports.
            await cancelWhenGracefulShutdown { await look() }
        }
    }

    /// Looks once.
    func look() async {
        do {
            let now = service.clock()
            let figures = try await service.reports.make { [reports = service.ledger.reports] in
                func question(_ kind: ReportKind) -> ReportQuestion {
                    ReportQuestion(
                        kind,
                        environment: .production,
                        point: BitemporalPoint(at: now, knownAt: .everything)
                    )
                }
                let errors = question(.errors)
                let stages = question(.stages)
                return ReportGauges.Figures(
                    customers: try reports.customers(question(.customers)),
                    revenue: try reports.revenue(question(.revenue)).rows,
                    flows: try reports.funnel(question(.funnel)).rows,
                    stages: try reports.stageTimes(stages).rows(stages.thresholds),
                    errors: try reports.errors(errors).rows(errors.rule)
                )
            }
            service.metrics.reports.set(figures)
            service.jobs.end(.reports, isDone: true)
        } catch is CancellationError {
            // The server stops.
        } catch {
            service.jobs.end(.reports, isDone: false)
            service.logger.error(
                "the look at reports could not be finished",
                metadata: ["fault": "\(type(of: error))"]
            )
        }
    }
}
