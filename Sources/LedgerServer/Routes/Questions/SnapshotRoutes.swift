import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What a customer is entitled to, signed, for whoever holds it without a network (row Z10).
extension RouteTable {
    static let snapshotRoutes = [
        Route(
            method: .get,
            template: "/v1/customers/{id}/snapshot",
            operation: "signSnapshot",
            summary: "What a customer is entitled to from now on, as a signed token (JWS, EdDSA).",
            access: .customer([.read, .support]),
            parameters: [environmentParameter, minimumSequence],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "A compact JWS; its keys are at /.well-known/jwks.json",
                    shape: .signed,
                    mediaType: "application/\(snapshotType)"
                )
            ],
            problems: questionProblems,
            isLogged: true,
            isAskedByBackends: true,
            handler: sign
        ),
        Route(
            method: .get,
            template: "/.well-known/jwks.json",
            operation: "readSnapshotKeys",
            summary: "The public keys of snapshots: of two years back and ahead.",
            access: .open,
            answers: [
                Route.Reply(
                    status: 200,
                    text: "A JWK set",
                    shape: .document("A JWK set"),
                    mediaType: "application/jwk-set+json"
                )
            ],
            handler: keys
        ),
    ]

    /// The type of the token, in its header and of the answer.
    private static let snapshotType = "entitlements+jwt"
    /// Seconds for which keys are kept by others: the next one is among them long before it signs.
    private static let keySeconds: Int64 = 86_400

    @Sendable
    private static func sign(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let question = try call.question()
        try await service.require(call.minimumSequence())
        let lifetime = service.snapshotSeconds
        let (text, size) = try await service.computing {
            let claims = try service.ledger.questions.snapshotClaims(question, lifetime: lifetime)
            let key = try service.ledger.prover.snapshotKey(at: call.now)
            let text = try key.signed(AnswerText(claims).bytes, as: snapshotType)
            return (text, claims.state.question.sequence)
        }
        return Answer(text: text, mediaType: "application/\(snapshotType)").at(size: size)
    }

    @Sendable
    private static func keys(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let keys = try await service.blocking {
            try service.ledger.prover.snapshotKeys(at: call.now).map(\.publicJSON)
        }
        let text = JSONValue.members(["keys": .array(keys)]).description
        var answer = Answer(text: text, mediaType: "application/jwk-set+json")
        answer.caching = .shared(seconds: keySeconds)
        return answer
    }
}
