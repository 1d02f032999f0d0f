import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

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
        let clients = service.stores.clients
        guard !clients.isEmpty else {
            throw Problem(.notConfigured, "no store's API is configured here")
        }
        let sync = StoreSync(
            service.ledger,
            clients,
            pool: service,
            clock: service.clock,
            makeID: service.makeID
        )
        return Answer(try await sync.sync(try call.customer, in: try call.environment()))
    }
}
