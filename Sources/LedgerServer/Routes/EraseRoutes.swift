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
        let customer = call.customer
        let request = try call.request(
            service,
            source: Source.support,
            environment: .production
        )
        let outcome = try await service.blocking {
            try service.ledger.erase([customer], request, reading: StoredEvidenceNames())
        }
        switch outcome {
        case .erased(let receipt):
            return Answer(.members(["outcome": "erased", "receipt": receipt.json]))
        case .unknown: return Answer(.members(["outcome": "unknown", "receipt": .null]))
        case .refused(let refusal): throw call.problem(of: refusal)
        }
    }
}

extension Shapes {
    static let erasure = Shape.object([
        Shape.Member("outcome", .choice(["erased", "unknown"])),
        Shape.Member("receipt", .optional(erasureReceipt)),
    ])

    private static let erasureReceipt = Shape.object([
        Shape.Member("origin", .text), Shape.Member("sequence", .integer),
        Shape.Member("events", .integer), Shape.Member("recordedAt", .instant),
        Shape.Member("streams", .list(.text)), Shape.Member("evidence", .list(.integer)),
        Shape.Member("treeSize", .integer),
        Shape.Member("rootHash", .text), Shape.Member("generation", .integer),
        Shape.Member(
            "backups",
            .object([
                Shape.Member("reached", .list(.text)),
                Shape.Member(
                    "missed",
                    .list(
                        .object([Shape.Member("path", .text), Shape.Member("until", .instant)])
                    )
                ),
            ])
        ),
        Shape.Member("exports", .list(.text)), Shape.Member("note", .text),
    ])
}
