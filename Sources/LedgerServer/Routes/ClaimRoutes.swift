import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Stores

/// What customers hand in: signed transactions, one or many (rows 2.3, 6.3, CL1).
extension RouteTable {
    static let claimRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/purchases",
            operation: "claimPurchase",
            summary: "Claims a purchase by the transaction that the store signed.",
            access: .customer([.write]),
            parameters: [idempotencyKey],
            body: Route.Body(shape: transaction, byteLimit: transactionByteLimit),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Recorded, or known already",
                    shape: .named("ClaimOutcome")
                )
            ],
            problems: claimProblems,
            handler: claim
        ),
        Route(
            method: .post,
            template: "/v1/customers/{id}/restore",
            operation: "restorePurchases",
            summary: "Claims many purchases at once; repeating it changes nothing.",
            access: .customer([.write]),
            parameters: [idempotencyKey],
            body: Route.Body(
                shape: .object([Shape.Member("transactions", .list(transaction))], isClosed: true),
                byteLimit: restoreByteLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What became of each; an empty list is nothing to restore (row 6.4)",
                    shape: .named("RestoreAnswer")
                )
            ],
            problems: appendProblems + [.notConfigured, .storeUnavailable],
            handler: restore
        ),
    ]

    private static let transaction = Shape.either([
        .object(
            [
                Shape.Member("store", .choice([Source.appStore])),
                Shape.Member("signedTransaction", .signed),
            ],
            isClosed: true
        ),
        .object(
            [
                Shape.Member("store", .choice([Source.playStore])),
                Shape.Member("purchaseData", .text), Shape.Member("signature", .text),
            ],
            isClosed: true
        ),
        .object(
            [
                Shape.Member("store", .choice([Source.playStore])),
                Shape.Member("packageName", .text), Shape.Member("purchaseToken", .text),
            ],
            optional: [Shape.Member("productId", .text)],
            isClosed: true
        ),
    ])

    private static let transactionByteLimit = 128 << 10
    private static let restoreByteLimit = 4 << 20
    /// Transactions that one restore may hold.
    private static let restoreItemLimit = 500
    /// Tokens among them: each is a question to a store, of which it answers only so many a minute.
    private static let restoreTokenLimit = 20

    private static let claimProblems =
        appendProblems
        + SignalRefusal.Code.allCases.compactMap { ProblemCode(rawValue: $0.rawValue) }
        + [.claimedByAnother, .notConfigured, .storeUnavailable]

    @Sendable
    private static func claim(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try call.object(
            "store",
            "signedTransaction",
            "purchaseData",
            "signature",
            "packageName",
            "productId",
            "purchaseToken"
        )
        let handedIn: HandedIn
        switch try await verified(body, call, service) {
        case .success(let found): handedIn = found
        case .failure(let refusal): throw Problem(refusal, of: try body.required("store"))
        }
        let item = handedIn.transaction
        let customer = try call.customer
        let request = try call.request(
            service,
            source: Source.app,
            environment: item.facts.environment
        )
        let outcome = try await service.blocking {
            try service.ledger.appender.claim(item, for: customer, request)
        }
        if case .refused(let refusal, let owner) = outcome {
            var problem = call.problem(of: refusal)
            problem.owner = call.visibleOwner(owner)
            throw problem
        }
        try await service.acknowledge(handedIn.acknowledgement, call.now)
        return Answer(call.item(outcome, of: item.purchase))
    }

    @Sendable
    private static func restore(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try await service.blocking { try call.object("transactions") }
        let entries = try body.list("transactions")
        guard entries.count <= restoreItemLimit else {
            throw Problem(
                .outOfRange,
                "a restore has at most \(restoreItemLimit) transactions",
                path: "transactions"
            )
        }
        guard entries.count(where: { $0["purchaseToken"] != nil }) <= restoreTokenLimit else {
            throw Problem(
                .outOfRange,
                "a restore has at most \(restoreTokenLimit) purchase tokens",
                path: "transactions"
            )
        }
        var verified: [Result<HandedIn, SignalRefusal>] = []
        for entry in entries {
            verified.append(try await self.verified(entry, call, service))
            // Others are answered between two signatures.
            await Task.yield()
        }
        // What was refused is told beside the outcomes.
        let handedIn = verified.compactMap { try? $0.get() }
        let transactions = handedIn.map(\.transaction)
        let customer = try call.customer
        let request = try call.request(service, source: Source.app, environment: .production)
        var outcomes = try await service.blocking {
            Array(
                try service.ledger.appender.restore(transactions, for: customer, request).reversed()
            )
        }
        for item in handedIn { try await service.acknowledge(item.acknowledgement, call.now) }
        let items = verified.map { item in
            switch item {
            case .failure(let refusal):
                // What is refused says why and does not hold up the others.
                ClaimItem(unverified: refusal.code.rawValue, refusal.detail)
            case .success(let item):
                call.item(outcomes.removeLast(), of: item.transaction.purchase)
            }
        }
        return Answer(RestoreAnswer(items: items))
    }

    /// What the store signed, verified; a refusal is counted.
    private static func verified(
        _ entry: JSONValue,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Result<HandedIn, SignalRefusal> {
        let store = try entry.required("store")
        let result: Result<HandedIn, SignalRefusal>
        switch store {
        case Source.appStore:
            guard let verifier = service.stores.appStore else {
                throw Problem(.notConfigured, "the App Store is not configured here")
            }
            let bytes = Array(try entry.required("signedTransaction").utf8)
            result = await verifier.transaction(bytes, now: call.now).flatMap { $0.handedIn() }
                .map { HandedIn($0) }
        case Source.playStore:
            guard let configuration = service.stores.playStore else {
                throw Problem(.notConfigured, "Google Play is not configured here")
            }
            result =
                if entry["purchaseToken"] == nil {
                    UnverifiedPlayPurchase.reading(
                        purchaseData: try entry.required("purchaseData"),
                        signature: try entry.required("signature")
                    )
                    .flatMap { $0.verified(by: configuration) }.map { HandedIn($0.handedIn()) }
                } else {
                    try await service.transaction(
                        ofPlay: try entry.required("purchaseToken"),
                        packageName: try entry.required("packageName"),
                        configuration,
                        call.now
                    )
                }
        default:
            throw Problem(
                .invalidValue,
                "expected \(Source.appStore) or \(Source.playStore)",
                path: "store"
            )
        }
        if case .failure(let refusal) = result { try await service.count(refusal, of: store) }
        return result
    }
}

extension Call {
    /// What became of a transaction, as this caller may know it.
    fileprivate func item(_ outcome: ClaimOutcome, of purchase: PurchaseName) -> ClaimItem {
        var item = ClaimItem(outcome, of: purchase)
        if case .refused(let refusal, let owner) = outcome {
            item.code = problem(of: refusal).code.rawValue
            item.owner = visibleOwner(owner)
        }
        return item
    }

    /// The other customer of a refused claim, for support only (Stores, rule 7).
    fileprivate func visibleOwner(_ owner: CustomerID?) -> String? {
        caller.has(.support) ? owner?.text : nil
    }
}
