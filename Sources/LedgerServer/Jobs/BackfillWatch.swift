import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Logging
import ServiceLifecycle

/// Asks the stores about everybody now and then, so that what no signal brought is found all the same
/// (rows 6.2, 8.1, 8.3, Z12).
///
/// One that is ended, or held up by a store that wants no more questions for now, goes on where it was.
struct BackfillWatch: ScheduledJob {
    let service: LedgerService
    let interval: Duration

    /// A week: what a store did not tell is looked for each hour where it is missed.
    static let standardInterval = Duration.seconds(7 * 86_400)
    /// A server that is started each day asks all the same.
    private static let longestFirstWait = Duration.seconds(3600)

    var job: JobBoard.Job { .backfill }
    var firstWait: Duration { min(interval, Self.longestFirstWait) }

    func run() async -> JobRun {
        let clients = service.stores.clients
        guard !clients.isEmpty else { return .done }
        // Whoever stops the server does not wait for stores.
        return await cancelWhenGracefulShutdown {
            do {
                let answer = try await service.backfill(in: .production)
                service.logger.notice(
                    "stores were asked about everybody",
                    metadata: [
                        "reconciled": "\(answer.reconciled)", "failed": "\(answer.failed)",
                        "remaining": "\(answer.remaining)",
                    ]
                )
                if service.isEnded() { return .ended }
                return answer.isWhole ? .done : .failed(notBefore: clients.heldUntil)
            } catch is CancellationError {
                return .ended
            } catch {
                service.logger.error(
                    "the stores could not be asked about everybody",
                    metadata: ["fault": "\(type(of: error))"]
                )
                return .failed()
            }
        }
    }
}

extension BackfillAnswer {
    /// Whether everybody was asked about, and each store told what it sent.
    fileprivate var isWhole: Bool {
        remaining == 0 && sources.allSatisfy { $0.code == nil || $0.code == .notConfigured }
    }
}
