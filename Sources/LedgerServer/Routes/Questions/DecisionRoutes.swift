import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// Answers that were given before, asked again by their decision tokens (row Z11).
extension RouteTable {
    static let decisionRoutes = [
        Route(
            method: .get,
            template: "/v1/decisions/{token}",
            operation: "repeatDecision",
            summary: "What a decision token stands for, answered again byte for byte.",
            access: .keys([.read, .support]),
            parameters: [
                Route.Parameter(
                    name: "customer",
                    text: "Who is meant, for a token that names nobody; else it is compared",
                    shape: .identifier
                ),
                Route.reasonParameter, minimumSequence,
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "The same answer; of older rules, without the members that came later",
                    shape: .either([
                        .described(StateAnswer.self), .described(AccessAnswer.self),
                        .described(TimelineAnswer.self), .described(PurchasesAnswer.self),
                    ])
                )
            ],
            problems: [
                .invalidValue, .unknownSequence, .customerMissing, .otherCustomer, .erased,
                .otherLedger, .otherHistory, .differs,
            ],
            handler: decision
        )
    ]

    @Sendable
    private static func decision(_ call: Call, _ service: LedgerService) async throws -> Answer {
        guard let token = DecisionToken(call.path[.token] ?? "") else {
            throw Problem(
                .invalidValue,
                "not a decision token, or one of a newer version",
                path: QueryName.token.rawValue
            )
        }
        let customer = try call.query[.customer].map { text throws(Problem) in
            guard let customer = CustomerID(text) else {
                throw Problem(
                    .invalidValue,
                    "an id has 1 to 1024 bytes without control characters",
                    path: QueryName.customer.rawValue
                )
            }
            return customer
        }
        // Who is looked at is known behind the answer, which then goes out noted.
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        try await service.require(call.minimumSequence())
        let outcome = try await service.blocking {
            try service.ledger.questions.answer(to: token, customer: customer)
        }
        switch outcome {
        case .refused(let refusal): throw Problem(refusal)
        case .answered(let found):
            let looked = [found.question.customer.flatMap { CustomerID($0) }].compactMap(\.self)
            for access in call.looks(at: looked, in: token.environment, "repeatDecision") {
                service.accesses.add(access)
            }
            return Answer(bytes: found.text.bytes, mediaType: "application/json")
                .at(size: token.size)
        }
    }
}

extension Problem {
    /// Why a decision token is not answered.
    fileprivate init(_ refusal: TokenRefusal) {
        let code: ProblemCode =
            switch refusal.code {
            case .unknownSequence: .unknownSequence
            case .customerMissing: .customerMissing
            case .otherCustomer: .otherCustomer
            case .erased: .erased
            case .otherLedger: .otherLedger
            case .otherHistory: .otherHistory
            case .differs: .differs
            }
        self.init(code, refusal.message, path: QueryName.token.rawValue)
    }
}
