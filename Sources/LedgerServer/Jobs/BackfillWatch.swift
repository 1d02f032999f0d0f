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

    var job: JobBoard.Job { .backfill }
    var isLeaders: Bool { true }

    func run() async -> JobRun {
        let clients = service.stores.clients
        guard !clients.isEmpty else { return .done }
        // Whoever stops the server does not wait for stores.
        return await cancelWhenGracefulShutdown {
            do {
                let reached = service.backfillProgress(in: .production)
                let begun = try reached?.next()
                let answer = try await service.backfill(in: .production)
                service.logger.notice(
                    "stores were asked about everybody",
                    metadata: [
                        "reconciled": "\(answer.reconciled)", "failed": "\(answer.failed)",
                        "remaining": "\(answer.remaining)",
                    ]
                )
                if service.isEnded() { return .ended }
                if answer.isToGoOn {
                    // It goes on where it was, for which those that are asked here are needed, and no other.
                    let holds = answer.sources.compactMap {
                        clients.heldUntil($0.store, in: .production)
                    }
                    let gotOn = try reached?.next() != begun
                    return .failed(notBefore: holds.max(), gotOn: gotOn)
                }
                // Asked again at once, it would ask about everybody from the start, and hear the same.
                for source in answer.untold {
                    service.logger.warning(
                        "a store did not tell what it was asked",
                        metadata: ["source": "\(source.store)", "code": "\(source.code)"]
                    )
                }
                return .done
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
    /// Whether somebody was not asked about yet, or a store wants to be asked later.
    fileprivate var isToGoOn: Bool {
        remaining > 0 || sources.contains { $0.code?.holdsUpAll == true }
    }

    /// The stores that did not tell, and why.
    fileprivate var untold: [(store: String, code: String)] {
        sources.compactMap { source in
            guard let code = source.code, code != .notConfigured else { return nil }
            return (source.store, code.rawValue)
        }
    }
}
