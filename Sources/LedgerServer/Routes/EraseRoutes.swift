import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Stores

/// Erasure of a customer (C6, row 9.5).
extension RouteTable {
    static let eraseRoutes = [
        Route(
            method: .delete,
            template: "/v1/customers/{id}",
            operation: "eraseCustomer",
            summary: "Erases a customer in every environment: names and keys are destroyed.",
            access: .keys([.admin]),
            parameters: [idempotencyKey],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Erased, now or by this request before; or nothing is known of them",
                    shape: .named("Erasure")
                )
            ],
            problems: appendProblems,
            handler: erase
        )
    ]

    @Sendable
    private static func erase(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let customer = try call.customer
        let request = try call.request(
            service,
            source: Source.support,
            environment: .production
        )
        return Answer(try await erasure(of: customer, request, call, service))
    }

    /// Erases a customer in every environment.
    static func erasure(
        of customer: CustomerID,
        _ request: LedgerRequest,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> ErasureAnswer {
        let outcome = try await service.appending {
            try service.ledger.eraser.erase([customer], request, reading: StoredEvidenceNames())
        }
        switch outcome {
        case .erased(let receipt): return ErasureAnswer(receipt: receipt)
        case .unknown: return ErasureAnswer(receipt: nil)
        case .refused(let refusal): throw call.problem(of: refusal)
        }
    }
}
