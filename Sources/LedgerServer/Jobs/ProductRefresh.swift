import EntitlementLedger
import Entitlements
import LedgerAPI
package import LedgerOperations
import Logging
import ServiceLifecycle

/// Loads what stores say of their products while the server runs, so that prices are not those of long
/// ago (rows 1.1, 1.4): at the start, then at intervals.
///
/// A load that fails leaves what was kept, and is told, noted and recorded (row 1.5).
struct ProductRefresh: ScheduledJob {
    let service: LedgerService
    let schedule: LedgerServer.ProductSchedule

    var job: JobBoard.Job { .products }
    var interval: Duration { schedule.interval }
    var firstWait: Duration { .zero }

    func run() async -> JobRun {
        // Whoever stops the server does not wait for stores.
        await cancelWhenGracefulShutdown { await load() }
    }

    /// Loads once, from the stores that can be asked now.
    @discardableResult
    func load() async -> JobRun {
        let clients = service.stores.clients
        do {
            try await tellDamage()
            guard clients.tellProducts else { return .done }
            let outcomes = try await schedule.load.load(clients, pool: service)
            try await service.blocking { [service] in
                try ProductLoad.record(outcomes, id: service.makeID(), in: service.ledger)
            }
            for outcome in outcomes { tell(outcome) }
            let isDone = outcomes.allSatisfy { $0.fault == nil }
            return isDone ? .done : .failed(notBefore: clients.heldUntil)
        } catch is CancellationError {
            return .ended
        } catch {
            service.logger.error(
                "products of stores could not be kept",
                metadata: ["fault": "\(type(of: error))"]
            )
            return .failed()
        }
    }

    /// Says what is kept and cannot be shown: whoever asks for an offering only misses it.
    private func tellDamage() async throws {
        guard let products = service.products else { return }
        for source in try await service.blocking({ try products.damaged() }) {
            service.logger.error(
                "products that were kept are damaged, and are not shown: load them again",
                metadata: ["source": "\(source.rawValue)"]
            )
        }
    }

    private func tell(_ outcome: ProductLoad.Outcome) {
        guard let fault = outcome.fault else {
            service.logger.info(
                "products were loaded",
                metadata: ["source": "\(outcome.source.rawValue)"]
            )
            return
        }
        service.logger.warning(
            "products were not loaded: what was kept is kept",
            metadata: [
                "source": "\(outcome.source.rawValue)", "code": "\(fault.code.rawValue)",
            ]
        )
    }
}

extension LedgerServer {
    /// How often products are loaded, and where they are kept.
    package struct ProductSchedule: Sendable {
        /// Between two loads.
        package var interval = Self.standard
        let load: ProductLoad

        /// Makes a schedule.
        package init(_ load: ProductLoad) { self.load = load }

        /// What holds unless it is configured: prices change seldom.
        package static let standard = Duration.seconds(6 * 3600)
    }
}
