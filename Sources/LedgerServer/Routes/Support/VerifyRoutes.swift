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
            template: "/v1/verify",
            operation: "verifyEverybody",
            summary: "Verifies all recorded evidence by today's roots and revocations.",
            access: .keys([.admin]),
            parameters: verifyParameters,
            answers: [verifyReply],
            problems: appendProblems,
            handler: { try await verify(nil, $0, $1) }
        ),
        Route(
            method: .post,
            template: "/v1/customers/{id}/verify",
            operation: "verifyCustomer",
            summary: "Verifies a customer's recorded evidence by today's roots and revocations.",
            access: .keys([.support]),
            parameters: verifyParameters,
            answers: [verifyReply],
            problems: appendProblems,
            isLogged: true,
            handler: { try await verify($0.customer, $0, $1) }
        ),
    ]

    private static let verifyParameters = [
        environmentParameter,
        Route.Parameter(
            name: "record",
            text: "Whether verdicts that failed are recorded (default: false)",
            shape: .boolean
        ),
    ]

    private static let verifyReply = Route.Reply(
        status: 200,
        text: "What became of each payload",
        shape: .named("EvidenceVerification")
    )

    /// `customer`: whose evidence; nil: everybody's.
    private static func verify(
        _ customer: CustomerID?,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let answer = try await verification(
            of: customer,
            in: call.environment(),
            isRecording: call.flag(.record),
            service
        )
        return Answer(answer)
    }

    /// Judges recorded evidence again.
    ///
    /// `customer`: whose; nil: everybody's.
    static func verification(
        of customer: CustomerID?,
        in environment: StoreEnvironment,
        isRecording: Bool,
        _ service: LedgerService
    ) async throws -> VerificationAnswer {
        let verifier = service.evidenceVerifier
        return try await service.blocking {
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
    }
}

extension LedgerService {
    /// Judges recorded evidence by the stores that are configured.
    var evidenceVerifier: StoredEvidenceVerifier {
        StoredEvidenceVerifier(appStore: stores.appStore, playStore: stores.playStore)
    }
}
