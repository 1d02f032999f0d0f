import EntitlementLedger
import Entitlements
import LedgerAPI
import Logging

/// Audits the ledger while the server runs, behind whoever asks: whoever runs it learns of damage
/// before a customer does.
struct AuditWatch: ScheduledJob {
    let service: LedgerService
    let scope: AuditScope
    let interval: Duration

    /// How long it waits where another audit runs.
    private static let pause = Duration.seconds(60)

    var job: JobBoard.Job { scope == .everything ? .auditEverything : .audit }

    /// Audits once, and tells of faults.
    func run() async -> JobRun {
        do {
            tell(try await service.audit(scope, .behind))
            return .done
        } catch let problem as Problem where problem.code == .busy {
            return .postponed(Self.pause)
        } catch is CancellationError {
            return .ended
        } catch {
            service.logger.error(
                "an audit could not be finished",
                metadata: ["scope": "\(scope)", "fault": "\(type(of: error))"]
            )
            return .failed()
        }
    }

    private func tell(_ answer: AuditAnswer) {
        let counts: Logger.Metadata = ["scope": "\(scope)", "faults": "\(answer.faults.count)"]
        guard !answer.isOK else {
            return service.logger.debug("an audit finds the ledger sound", metadata: counts)
        }
        let kinds = Set(answer.faults.map(\.kind.rawValue)).sorted()
        service.logger.error(
            "an audit finds faults: run `entitle audit`",
            metadata: counts.merging(["kinds": "\(kinds.joined(separator: " "))"]) { $1 }
        )
    }
}

extension LedgerServer {
    /// How often the ledger is audited behind whoever asks; nil: not at all.
    package struct AuditSchedule: Sendable {
        /// Between two looks at what a stopped writer may have left half-written.
        package var quick: Duration?
        /// Between two audits of everything.
        package var everything: Duration?

        /// Makes a schedule.
        package init(quick: Duration?, everything: Duration?) {
            self.quick = quick
            self.everything = everything
        }

        /// What holds unless it is configured: quickly each hour, everything once a day.
        package static let standard = AuditSchedule(
            quick: .seconds(3600),
            everything: .seconds(86_400)
        )

        func watches(_ service: LedgerService) -> [AuditWatch] {
            [(AuditScope.quick, quick), (.everything, everything)].compactMap { scope, interval in
                interval.map { AuditWatch(service: service, scope: scope, interval: $0) }
            }
        }
    }

    /// For whom an audit runs.
    package enum AuditPace: Sendable {
        /// Somebody waits for it.
        case asked
        /// It takes only what requests leave of the machine.
        case behind
    }
}
