import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What those who run the server ask.
extension RouteTable {
    static let operationRoutes = [
        Route(
            method: .get,
            template: "/healthz",
            operation: "health",
            summary: "Whether the process answers.",
            access: .open,
            answers: [statusReply],
            handler: { _, _ in Answer(.members(["status": "ok"])) }
        ),
        Route(
            method: .get,
            template: "/readyz",
            operation: "readiness",
            summary: "Whether the ledger is open and can be asked.",
            access: .open,
            answers: [statusReply],
            handler: ready
        ),
        Route(
            method: .get,
            template: "/metrics",
            operation: "metrics",
            summary: "Counters and gauges in Prometheus' text format.",
            access: .keys([.read, .audit]),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Prometheus text format 0.0.4",
                    shape: .text,
                    mediaType: PrometheusText.mediaType
                )
            ],
            handler: metrics
        ),
        Route(
            method: .get,
            template: "/openapi.json",
            operation: "describe",
            summary: "This description.",
            access: .open,
            answers: [
                Route.Reply(status: 200, text: "OpenAPI 3.1", shape: .document("OpenAPI")),
                Route.Reply(status: 304, text: "As the caller has it already", shape: nil),
            ],
            handler: describe
        ),
    ]

    private static let statusReply = Route.Reply(
        status: 200,
        text: "Yes",
        shape: .object([Shape.Member("status", .text)])
    )

    @Sendable
    private static func ready(_: Call, _ service: LedgerService) async throws -> Answer {
        let size = try await service.blocking { try service.ledger.size() }
        var answer = Answer(.members(["status": "ready"]))
        answer.headers[.ledgerSequence] = String(size)
        return answer
    }

    @Sendable
    private static func metrics(_: Call, _ service: LedgerService) async throws -> Answer {
        let size = try await service.blocking { try service.ledger.size() }
        return Answer(
            text: service.metrics.text(ledgerSequence: size),
            mediaType: PrometheusText.mediaType
        )
    }

    private static let description = OpenAPIDocument.document(of: routes).description

    @Sendable
    private static func describe(_: Call, _: LedgerService) async throws -> Answer {
        var answer = Answer(text: description, mediaType: "application/json")
        answer.caching = .revalidated
        return answer
    }
}
