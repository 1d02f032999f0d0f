import Encodings
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
            access: .health([]),
            answers: [healthReply],
            handler: { _, _ in Answer(.members(["status": "ok"])) }
        ),
        Route(
            method: .get,
            template: "/readyz",
            operation: "readiness",
            summary: "Whether the ledger can be asked, and why not; to strangers without a word.",
            access: .health(reasonScopes),
            answers: readinessReplies,
            handler: ready
        ),
        Route(
            method: .get,
            template: "/metrics",
            operation: "metrics",
            summary: "Counters and gauges in Prometheus' text format.",
            access: .keys([.read, .audit, .metrics]),
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
            template: "/v1/status",
            operation: "readStatus",
            summary: "How the ledger is, how complete, and what the server does by itself.",
            access: .keys([.read, .support, .audit]),
            parameters: [minimumSequence],
            answers: [
                Route.Reply(status: 200, text: "As `status`", shape: .described(StatusAnswer.self))
            ],
            handler: status
        ),
        Route(
            method: .get,
            template: "/v1/doctor",
            operation: "diagnose",
            summary: "What is wrong with the ledger and what it stands on, with what to do.",
            access: .keys([.admin]),
            answers: [
                Route.Reply(status: 200, text: "As `doctor`", shape: .described(DoctorAnswer.self))
            ],
            handler: { _, service in Answer(try await HealthLook.lookAround(service)) }
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

    private static let healthReply = Route.Reply(
        status: 200,
        text: "Yes",
        shape: .object([Shape.Member("status", .text)])
    )

    /// Whose keys are told why the server is not ready.
    private static let reasonScopes: ScopeSet = [.read, .metrics]

    /// Strangers get the status alone, as an empty text.
    private static let readinessReplies = [(200, "Ready"), (503, "Not ready")].flatMap {
        (status, text) in
        [
            Route.Reply(
                status: status,
                text: text,
                shape: .object([
                    Shape.Member("status", .text), Shape.Member("reasons", .list(.text)),
                ])
            ),
            Route.Reply(status: status, text: text, shape: .text, mediaType: emptyType),
        ]
    }

    private static let emptyType = "text/plain; charset=utf-8"

    @Sendable
    private static func status(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await service.require(call.minimumSequence())
        let status = try await service.blocking {
            var status = try HealthLook.status(service)
            status.alerts = try service.alerts.all()
            return status
        }
        return Answer(status).at(size: status.sequence)
    }

    @Sendable
    private static func ready(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let readiness = await service.readiness()
        let status = readiness.isReady ? 200 : 503
        guard call.caller.has(anyOf: reasonScopes) else {
            return Answer(status: status, text: "", mediaType: emptyType)
        }
        var answer = Answer(status: status, readiness.json)
        answer.headers[.ledgerSequence] = readiness.size.map { String($0) }
        return answer
    }

    @Sendable
    private static func metrics(_: Call, _ service: LedgerService) async throws -> Answer {
        Answer(
            text: service.metrics.text(await service.standing(), service.jobs, service.alerts),
            mediaType: PrometheusText.mediaType
        )
    }

    private static let description = OpenAPIDocument.document(of: routes).description

    @Sendable
    private static func describe(_: Call, _: LedgerService) async throws -> Answer {
        var answer = Answer(text: description, mediaType: "application/json")
        answer.caching = .revalidated(digest: nil)
        return answer
    }
}
