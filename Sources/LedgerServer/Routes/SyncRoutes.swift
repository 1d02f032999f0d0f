import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores

/// What the stores are asked about a customer (rows 6.2, 8.3).
extension RouteTable {
    static let syncRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/sync",
            operation: "syncCustomer",
            summary: "Asks the stores what a customer owns, and appends what is missing.",
            access: .keys([.write, .support]),
            parameters: [environmentParameter],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What the stores told; one that does not answer is told beside",
                    shape: .described(SyncAnswer.self)
                )
            ],
            problems: appendProblems + [.notConfigured],
            isLogged: true,
            handler: sync
        )
    ]

    @Sendable
    private static func sync(_ call: Call, _ service: LedgerService) async throws -> Answer {
        Answer(try await sync(try call.customer, in: try call.environment(), service))
    }

    /// Asks the stores about a customer, if there are any that can be asked.
    static func sync(
        _ customer: CustomerID,
        in environment: StoreEnvironment,
        _ service: LedgerService
    ) async throws -> SyncAnswer {
        guard !service.stores.clients.isEmpty else {
            throw Problem(.notConfigured, "no store's API is configured here")
        }
        return try await service.sync.sync(customer, in: environment)
    }
}

extension LedgerService {
    /// Asks the stores that are configured now.
    var sync: StoreSync {
        StoreSync(ledger, stores.clients, pool: self, clock: clock, makeID: makeID)
    }

    /// Asks the stores about everybody, from where an earlier run ended.
    ///
    /// `since`: as `StoreBackfill.run` takes it. `again`: from the beginning.
    func backfill(
        in environment: StoreEnvironment,
        since: Instant? = nil,
        again: Bool = false
    ) async throws -> BackfillAnswer {
        let reached = backfillProgress(in: environment)
        return try await StoreBackfill(sync, in: environment).run(
            since: since,
            from: again ? 0 : reached?.next() ?? 0,
            isInterrupted: isEnded
        ) { try reached?.reach($2) }
    }

    /// Where a run that asks about everybody goes on; nil: the ledger stands in no directory.
    func backfillProgress(in environment: StoreEnvironment) -> BackfillProgress? {
        directory.map { BackfillProgress(ofLedgerAt: $0, environment, clock: clock) }
    }
}
