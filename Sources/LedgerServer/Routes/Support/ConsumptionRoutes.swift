import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores

/// What support tells a store of a customer who wants their money back.
extension RouteTable {
    static let consumptionRoutes = [
        Route(
            method: .post,
            template: "/v1/app-store/transactions/{transaction}/consumption",
            operation: "tellConsumption",
            summary: "Tells the App Store what was made of a purchase whose money is asked back.",
            access: .keys([.support]),
            parameters: [environmentParameter, Route.reasonParameter],
            body: Route.Body(
                shape: .object(
                    // The App Store takes nothing without it.
                    [Shape.Member("consented", .onlyTrue)],
                    optional: [
                        Shape.Member("delivery", choice(of: AppStoreConsumption.Delivery.self)),
                        Shape.Member("sampled", .boolean),
                        Shape.Member("percentage", .field(.integer(percentages))),
                        Shape.Member("preference", choice(of: AppStoreConsumption.Preference.self)),
                    ],
                    isClosed: true
                ),
                byteLimit: smallBodyLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "The App Store took it",
                    shape: .object([Shape.Member("told", .onlyTrue)])
                )
            ],
            problems: [
                .conflict, .invalidValue, .outOfRange, .unknownPurchase, .notConfigured,
                .storeUnavailable,
            ],
            handler: consumption
        )
    ]

    private static let percentages = Int64(0)...100

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        of _: Choice.Type
    ) -> Shape where Choice.RawValue == String {
        .choice(Choice.allCases.map(\.rawValue))
    }

    @Sendable
    private static func consumption(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let (consumption, environment) = (try call.consumption(), try call.environment())
        let transaction = call.path[.transaction] ?? ""
        guard let appStore = service.stores.clients.appStore else {
            throw Problem(.notConfigured, "the App Store's API is not configured here")
        }
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        let owners = try await service.blocking {
            try service.ledger.questions.search(transaction, in: environment, at: call.now)
                .matches.compactMap(\.customer)
        }
        do throws(StoreFault) {
            try await appStore.api.send(consumption, of: transaction, in: environment)
        } catch {
            let fault = try service.unanswered(error, of: Source.appStore)
            guard fault.code == .notFound else {
                throw Problem(.conflict, "the App Store did not do it: \(fault.code.rawValue)")
            }
            throw Problem(.unknownPurchase, "the App Store knows no such transaction")
        }
        let accesses = call.accesses(
            to: owners,
            in: environment,
            "tellConsumption",
            call.accessReason
        )
        for access in accesses { service.accesses.add(access) }
        return Answer(.members(["told": .bool(true)]))
    }

    /// Per cent that was used; nil: the body does not say.
    fileprivate static func percentage(_ body: JSONValue) throws(Problem) -> Int? {
        guard let value = body["percentage"] else { return nil }
        guard let percentage = value.integer, percentages.contains(percentage) else {
            throw Problem(.outOfRange, "expected 0 to 100", path: "percentage")
        }
        return Int(percentage)
    }
}

extension Call {
    /// What the body says was made of a purchase.
    fileprivate func consumption() throws(Problem) -> AppStoreConsumption {
        let body = try object("consented", "delivery", "sampled", "percentage", "preference")
        guard body["consented"]?.bool == true else {
            throw Problem(
                .invalidValue,
                "nothing is told without the customer's consent",
                path: "consented"
            )
        }
        let isSampled = try body["sampled"].map { value throws(Problem) in
            guard let flag = value.bool else {
                throw Problem(.invalidValue, "expected true or false", path: "sampled")
            }
            return flag
        }
        return AppStoreConsumption(
            delivery: try Self.choice(body, "delivery") ?? .delivered,
            isSampled: isSampled ?? false,
            percentage: try RouteTable.percentage(body),
            preference: try Self.choice(body, "preference")
        )
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ body: JSONValue,
        _ name: String
    ) throws(Problem) -> Choice? where Choice.RawValue == String {
        guard let value = body[name] else { return nil }
        guard let choice = value.string.flatMap({ Choice(rawValue: $0) }) else {
            throw Problem(
                .invalidValue,
                "expected one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "),
                path: name
            )
        }
        return choice
    }
}
