import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores

/// What support asks a store to do for a customer.
extension RouteTable {
    static let extensionRoutes = [
        Route(
            method: .post,
            template: "/v1/purchases/{purchase}/extend",
            operation: "extendPurchase",
            summary: "Asks the App Store to move a renewal date, and records what it signs of it.",
            access: .keys([.support]),
            parameters: [environmentParameter, idempotencyKey, Route.reasonParameter],
            body: Route.Body(
                shape: .object(
                    [Shape.Member("days", .field(.integer(days)))],
                    optional: [Shape.Member("because", .choice(reasons))],
                    isClosed: true
                ),
                byteLimit: smallBodyLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "As `extend`",
                    shape: .described(ExtensionAnswer.self)
                )
            ],
            problems: appendProblems + [
                .outOfRange, .unknownPurchase, .notConfigured, .storeUnavailable,
            ],
            handler: extend
        )
    ]

    private static let days =
        Int64(StoreSync.extensionDays.lowerBound)...Int64(StoreSync.extensionDays.upperBound)
    private static let reasons = AppStoreExtensionReason.allCases.map(\.rawValue)

    @Sendable
    private static func extend(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try call.object("days", "because")
        let purchase = try call.purchase
        guard purchase.store == Source.appStore else {
            throw Problem(
                .invalidValue,
                "only the App Store moves a renewal date",
                path: "purchase"
            )
        }
        guard let count = body["days"]?.integer, days.contains(count) else {
            throw Problem(.outOfRange, "expected 1 to 90", path: "days")
        }
        let word =
            body["because"].map { $0.string ?? "" } ?? AppStoreExtensionReason.undeclared.rawValue
        guard let reason = AppStoreExtensionReason(rawValue: word) else {
            throw Problem(
                .invalidValue,
                "expected one of " + reasons.joined(separator: ", "),
                path: "because"
            )
        }
        let request = try call.request(service, source: Source.support)
        guard !service.ledger.isReadOnly else { throw Problem(.readOnly) }
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        let owners = try await service.blocking {
            try service.ledger.questions.search(
                purchase.description,
                in: request.environment,
                at: call.now
            ).matches.compactMap(\.customer)
        }
        do {
            let answer = try await service.sync.extend(
                purchase,
                byDays: Int(count),
                because: reason,
                id: request.id,
                in: request.environment
            )
            guard let answer else {
                throw Problem(.notConfigured, "the App Store's API is not configured here")
            }
            let accesses = call.accesses(
                to: owners,
                in: request.environment,
                "extendPurchase",
                call.accessReason
            )
            for access in accesses { service.accesses.add(access) }
            return Answer(answer)
        } catch let fault as StoreFault {
            // An answer that cannot be read is no no: the same request again is the same to the App Store.
            _ = try service.unanswered(
                fault,
                of: Source.appStore,
                comesAgain: fault.code == .malformed
            )
            guard fault.code == .notFound else {
                throw Problem(.conflict, "the App Store did not do it: \(fault.code.rawValue)")
            }
            throw Problem(.unknownPurchase, "the App Store knows no such subscription")
        }
    }
}
