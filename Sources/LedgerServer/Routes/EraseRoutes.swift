import Encodings
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
            isLong: true,
            handler: erase
        ),
        Route(
            method: .post,
            template: "/v1/erasures",
            operation: "eraseCustomers",
            summary: "Erases customers together, or says what that would take.",
            access: .keys([.admin]),
            parameters: [dryRunParameter, idempotencyKey],
            body: Route.Body(
                shape: .object(
                    [Shape.Member("customers", .some(.identifier))],
                    isClosed: true
                ),
                byteLimit: erasureByteLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Erased, or nothing is known of them; of a dry run: what would go",
                    shape: .either([.named("Erasure"), .named("ErasurePlan")])
                )
            ],
            problems: appendProblems,
            isLong: true,
            handler: eraseTogether
        ),
    ]

    private static let erasureByteLimit = 4 << 20
    /// Customers whom one erasure may take: while it goes over them, nothing is appended.
    private static let erasureItemLimit = 10_000

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
        return Answer(try await erasure(of: [customer], request, call, service))
    }

    @Sendable
    private static func eraseTogether(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let elements = try call.object("customers").list("customers")
        guard (1...erasureItemLimit).contains(elements.count) else {
            throw Problem(
                .invalidValue,
                "expected 1 to \(erasureItemLimit) customers",
                path: "customers"
            )
        }
        let customers = try elements.enumerated().map { index, element throws(Problem) in
            guard let customer = element.string.flatMap({ CustomerID($0) }) else {
                throw Problem(.invalidValue, "expected an id", path: "customers[\(index)]")
            }
            return customer
        }
        let request = try call.request(service, source: Source.support, environment: .production)
        guard try call.isDryRun() else {
            return Answer(try await erasure(of: customers, request, call, service))
        }
        return Answer(
            try await service.blocking {
                try service.ledger.eraser.plannedErasure(
                    of: customers,
                    reading: StoredEvidenceNames()
                )
            }
        )
    }

    /// Erases customers in every environment.
    static func erasure(
        of customers: [CustomerID],
        _ request: LedgerRequest,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> ErasureAnswer {
        let outcome = try await service.appending {
            try service.ledger.eraser.erase(customers, request, reading: StoredEvidenceNames())
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
        return try await record(call, request, service, about: customer) { ledger in
            try ledger.appender.noteErasureRequest(of: customer, request)
        }
    }
}
