import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// What the ledger says of customers whom a provider knows, for whoever compares the two (row Z14).
extension RouteTable {
    static let comparisonRoutes = [
        Route(
            method: .get,
            template: "/v1/comparison",
            operation: "beginComparison",
            summary: "The catalogs, and everybody's name, that `compare` goes by.",
            access: .keys([.admin]),
            parameters: comparisonParameters + [
                Route.Parameter(
                    name: "everybody",
                    text: "Whether a name of each customer is told (default: false)",
                    shape: .boolean
                )
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What it is compared by",
                    shape: .described(ComparisonGround.self)
                )
            ],
            problems: [.invalidValue],
            handler: begin
        ),
        Route(
            method: .post,
            template: "/v1/comparison",
            operation: "compareCustomers",
            summary: "What customers whom a provider names have here, and why purchases not.",
            access: .keys([.admin]),
            parameters: comparisonParameters,
            body: Route.Body(
                shape: .object(
                    [Shape.Member("customers", .list(.described(KnownElsewhere.self)))],
                    isClosed: true
                ),
                byteLimit: catalogByteLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What is said of each, in the order of the question",
                    shape: .described(ComparisonView.self)
                )
            ],
            problems: [.invalidValue],
            handler: compare
        ),
    ]

    private static let comparisonParameters = [
        environmentParameter,
        Route.Parameter(name: "at", text: "T (default: now)", shape: .point), minimumSequence,
    ]

    @Sendable
    private static func begin(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await service.require(call.minimumSequence())
        let side = try call.comparisonSide(service)
        let everybody = try call.flag(.everybody)
        let ground = try await service.reports.make { try side.ground(everybody: everybody) }
        return Answer(ground).at(size: ground.sequence)
    }

    @Sendable
    private static func compare(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await service.require(call.minimumSequence())
        let side = try call.comparisonSide(service)
        let question: ComparisonQuestion
        do {
            question = try ComparisonQuestion.fields.read(call.object("customers"))
        } catch let fault as InputFault {
            throw Problem(fault)
        }
        guard question.customers.count <= ComparisonQuestion.customerLimit else {
            throw Problem(
                .invalidValue,
                "expected \(ComparisonQuestion.customerLimit) customers at most",
                path: "customers"
            )
        }
        for (index, customer) in question.customers.enumerated() {
            guard !customer.names.isEmpty, customer.names.allSatisfy({ CustomerID($0) != nil })
            else {
                throw Problem(.invalidValue, "expected ids", path: "customers[\(index)].names")
            }
        }
        let (view, size) = try await service.blocking {
            // Before the answer: it is made from no less than the header says.
            let size = try service.ledger.questions.size()
            return (ComparisonView(customers: try side.see(question.customers)), size)
        }
        return Answer(view).at(size: size)
    }
}

extension Call {
    fileprivate func comparisonSide(_ service: LedgerService) throws -> ComparisonSide {
        ComparisonSide(
            service.ledger,
            in: try environment(),
            at: try query[.at].map { text throws(Problem) in try instant(text, "at") } ?? now
        )
    }
}
