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
    /// When each source was last loaded by this job.
    private var loadedAt: [ProductSource: Instant] = [:]

    init(service: LedgerService, schedule: LedgerServer.ProductSchedule) {
        self.service = service
        self.schedule = schedule
    }

    var job: JobBoard.Job { .products }
    var isLeaders: Bool { true }
    var interval: Duration { schedule.interval }
    var firstWait: Duration { .zero }

    mutating func run() async -> JobRun {
        let due = due
        // Whoever stops the server does not wait for stores.
        let (run, loaded) = await cancelWhenGracefulShutdown { [self] in await load(due) }
        let now = service.clock()
        for source in loaded { loadedAt[source] = now }
        return run
    }

    /// The sources whose turn it is: who was loaded just now is not asked again because another one failed.
    private var due: Set<ProductSource> {
        let now = service.clock()
        return Set(
            service.stores.clients.tellingProducts.filter { source in
                // Half of it: clocks are set, and a turn is not to be missed for it.
                loadedAt[source].map { $0 + interval / 2 <= now } ?? true
            }
        )
    }

    /// Loads once, from those of some sources that can be asked now; also says which were loaded.
    ///
    /// One that wants to be left alone is asked when it wants to be, and holds up no other.
    @discardableResult
    func load(
        _ due: Set<ProductSource> = Set(ProductSource.allCases)
    ) async -> (JobRun, loaded: [ProductSource]) {
        let clients = service.stores.clients
        let sources = clients.tellingProducts.filter(due.contains)
        do {
            try await tellDamage()
            var outcomes: [ProductLoad.Outcome] = []
            for source in sources where clients.heldUntil(tellingProducts: source) == nil {
                outcomes += try await schedule.load.load(clients, only: source, pool: service)
            }
            try await service.blocking { [service, outcomes] in
                try ProductLoad.record(outcomes, id: service.makeID(), in: service.ledger)
            }
            for outcome in outcomes { tell(outcome) }
            let loaded = outcomes.filter { $0.fault == nil }.map(\.source)
            let missing = sources.filter { !loaded.contains($0) }
            guard !missing.isEmpty else { return (.done, loaded) }
            let holds = missing.map { clients.heldUntil(tellingProducts: $0) }
            let others =
                clients.tellingProducts.count > missing.count ? service.clock() + interval : nil
            return (.failed(heldUntil: holds, others: others), loaded)
        } catch is CancellationError {
            return (.ended, [])
        } catch {
            service.logger.error(
                "products of stores could not be kept",
                metadata: ["fault": "\(type(of: error))"]
            )
            return (.failed(), [])
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
