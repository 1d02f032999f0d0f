import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores

/// Recorded evidence, judged again (row 7.5; Stores, rule 5).
extension RouteTable {
    static let verifyRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/verify",
            operation: "verifyCustomer",
            summary: "Verifies a customer's recorded evidence by today's roots and revocations.",
            access: .keys([.support]),
            parameters: [
                environmentParameter,
                Route.Parameter(
                    name: "record",
                    text: "Whether verdicts that failed are recorded (default: false)",
                    shape: .boolean
                ),
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What became of each payload",
                    shape: .named("EvidenceVerification")
                )
            ],
            problems: appendProblems,
            isLogged: true,
            handler: verify
        )
    ]

    @Sendable
    private static func verify(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let (customer, environment) = try (call.customer, call.environment())
        let isRecording = try call.flag(.record)
        let verifier = StoredEvidenceVerifier(
            appStore: service.stores.appStore,
            playStore: service.stores.playStore
        )
        let answer = try await service.blocking {
            try service.ledger.auditor.verifyEvidence(
                of: customer,
                environment: environment,
                recording: isRecording
            ) { evidence, event, recordedAt in
                Blocking.wait {
                    await verifier.verdict(on: evidence, of: event, recordedAt: recordedAt)
                }
            }
        }
        return Answer(answer)
    }
}
