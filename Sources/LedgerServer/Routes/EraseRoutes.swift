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
            summary:
                "Erases a customer in every environment: names and keys are destroyed. What a customer's own token asks for is noted, and support sees it.",
            access: .customer([.admin]),
            parameters: [idempotencyKey],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Erased, now or by this request before; or nothing is known of them",
                    shape: .named("Erasure")
                ),
                Route.Reply(
                    status: 202,
                    text: "That the customer asks for it is noted",
                    shape: .named("Receipt")
                ),
            ],
            problems: appendProblems,
            handler: erase
        )
    ]

    @Sendable
    private static func erase(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let customer = try call.customer
        if case .customer = call.caller {
            var answer = try await noteErasureRequest(of: customer, call, service)
            answer.status = 202
            return answer
        }
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

    /// Notes that a customer asks to be erased.
    static func noteErasureRequest(
        of customer: CustomerID,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let request = try call.request(service, source: Source.app)
        return try await record(call, request, service) {
            try service.ledger.appender.noteErasureRequest(of: customer, request)
        }
    }
}
