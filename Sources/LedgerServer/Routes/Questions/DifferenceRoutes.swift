import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What changed for a customer, or became known.
extension RouteTable {
    static let differenceRoutes = [
        Route(
            method: .get,
            template: "/v1/customers/{id}/diff",
            operation: "compareStates",
            summary: "What changed for a customer between two instants, or became known.",
            access: .keys([.read, .support]),
            parameters: pointParameters + secondPointParameters,
            answers: replies(.described(DifferenceAnswer.self)),
            problems: questionProblems,
            isLogged: true,
            handler: compare
        )
    ]

    static let secondPointParameters = [
        Route.Parameter(name: "toAt", text: "T to compare with (default: at)", shape: .point),
        Route.Parameter(
            name: "toKnown",
            text: "R to compare with (default: all that is known)",
            shape: .point
        ),
        Route.Parameter(
            name: "toKnownSequence",
            text: "R to compare with, as a size; excludes toKnown",
            shape: .sequence
        ),
    ]

    @Sendable
    private static func compare(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let question = DifferenceQuestion(
            customer: try call.customer,
            environment: try call.environment(),
            from: try call.point(),
            to: try call.secondPoint()
        )
        try await service.require(call.minimumSequence())
        let written = try await service.blocking {
            try service.ledger.questions.difference(question)
        }
        return revalidated(
            Answer(written).at(size: written.to.sequence),
            digest: ContentDigest.text(of: written.text.lasting)
        )
    }
}

extension Call {
    /// The point that another one is compared with: its T is that of the first unless it says so.
    fileprivate func secondPoint() throws(Problem) -> BitemporalPoint {
        try point(at: query[.toAt] == nil ? "at" : "toAt", "toKnown", "toKnownSequence")
    }
}
