import EntitlementLedger
import Entitlements
import LedgerAPI
import Logging
import ServiceLifecycle

/// Looks at the reports that are kept summed up, which moves them along, and shows their figures
/// (row 10.6); what is slow or comes too often by them is an alert (rows 10.4, 10.5).
///
/// A scrape reads what the last look found: it costs no look at the log.
struct ReportWatch: ScheduledJob {
    let service: LedgerService
    let interval: Duration

    /// Ten minutes.
    static let standardInterval = Duration.seconds(600)
    /// Soon: until a large log is summed up, whoever asks for a report waits for that.
    var firstWait: Duration { min(interval, .seconds(1)) }

    private static let day = Instant.millisecondsPerDay
    /// Fewer flows that were slow in a stage are no alert, as fewer errors are none: where few buy, one phone
    /// with a bad network is more than one of twenty.
    private static let leastSlowCount = AlertRule.defaultMinimumCount

    var job: JobBoard.Job { .reports }

    func run() async -> JobRun {
        // Whoever stops the server does not wait for reports.
        await cancelWhenGracefulShutdown { await look() }
    }

    /// Looks once.
    @discardableResult
    func look() async -> JobRun {
        do {
            let now = service.clock()
            let (figures, recent) = try await service.reports.make {
                [reports = service.ledger.reports, thresholds = service.stageThresholds] in
                func question(_ kind: ReportKind) -> ReportQuestion {
                    ReportQuestion(
                        kind,
                        environment: .production,
                        point: BitemporalPoint(at: now, knownAt: .everything)
                    )
                }
                let errors = question(.errors)
                var stages = question(.stages)
                stages.thresholds = thresholds
                // Whole days: roll-ups tell them. What was slow long ago is nothing to wake anybody for.
                var recent = stages
                let today = now.milliseconds / Self.day * Self.day
                recent.range.start = Instant(milliseconds: today - Self.day)
                return (
                    ReportGauges.Figures(
                        customers: try reports.customers(question(.customers)),
                        revenue: try reports.revenue(question(.revenue)).rows,
                        flows: try reports.funnel(question(.funnel)).rows,
                        stages: try reports.stageTimes(stages).rows(stages.thresholds),
                        errors: try reports.errors(errors).rows(errors.rule)
                    ), try reports.stageTimes(recent).rows(recent.thresholds)
                )
            }
            service.metrics.reports.set(figures)
            let alerts = Self.alerts(recent, figures.errors, at: now)
            try await service.blocking { [service] in
                try service.alerts.hold(alerts, of: [.stageSlow, .errorRate], at: now)
            }
            return .done
        } catch is CancellationError {
            return .ended
        } catch {
            service.logger.error(
                "the look at reports could not be finished",
                metadata: ["fault": "\(type(of: error))"]
            )
            return .failed()
        }
    }

    private static func alerts(
        _ stages: [StageRow],
        _ errors: [ErrorRow],
        at now: Instant
    ) -> [LedgerAlert] {
        let slow = stages.filter { $0.isAlarming && $0.overThreshold >= Self.leastSlowCount }
        return slow.map { row in
            LedgerAlert(
                .stageSlow,
                about: row.stage,
                in: .production,
                since: now,
                "a stage of purchase flows takes \(row.p95) ms at the 95th percentile, more than "
                    + "the \(row.threshold) it may: \(row.overThreshold) of \(row.count) took longer"
            )
        }
            + errors.filter(\.isAlarming).map { row in
                LedgerAlert(
                    .errorRate,
                    about: "\(row.origin.rawValue)/\(row.code)",
                    in: .production,
                    since: now,
                    "an error comes far more often than a while ago: \(row.recent) in the last window"
                )
            }
    }
}
