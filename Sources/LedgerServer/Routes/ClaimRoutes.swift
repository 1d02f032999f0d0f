import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores

/// What customers hand in: signed transactions, one or many (rows 2.3, 6.3, CL1).
extension RouteTable {
    static let claimRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/purchases",
            operation: claimOperation,
            summary: "Claims a purchase by the transaction that the store signed.",
            access: .customer([.write]),
            parameters: [Route.reasonParameter, idempotencyKey],
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
            operation: restoreOperation,
            summary: "Claims many purchases at once; repeating it changes nothing.",
            access: .customer([.write]),
            parameters: [dryRunParameter, Route.reasonParameter, idempotencyKey],
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

    private static let claimOperation = "claimPurchase"
    private static let restoreOperation = "restorePurchases"

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

    /// The members that a transaction may have, in whatever form.
    private static let transactionMembers = [
        "store", "signedTransaction", "purchaseData", "signature", "packageName", "productId",
        "purchaseToken",
    ]

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
        let body = try call.object(of: transactionMembers)
        try call.requireTrace(service)
        try service.access.admitQuestions(body["purchaseToken"] == nil ? 0 : 1, of: call.caller)
        let store = try body.required("store")
        var found = try await verified(body, call, service)
        if case .success(let item) = found {
            found = try await service.sync.confirm([item], within: service.confirmationLimit)[0]
        }
        let handedIn: HandedIn
        switch found {
        case .success(let item): handedIn = item
        case .failure(let refusal):
            try await service.count(refusal, of: store)
            throw Problem(refusal, of: store)
        }
        let item = handedIn.transaction
        let customer = try call.customer
        let request = try call.request(
            service,
            source: Source.app,
            environment: item.facts.environment
        )
        let outcome = try await service.appending {
            try service.ledger.appender.claim(item, for: customer, request)
        }
        let owner = call.visible(outcome.owner)
        try call.note([(owner, item.facts.environment)], claimOperation, service)
        if case .refused(let refusal, _) = outcome {
            var problem = call.problem(of: refusal)
            problem.owner = owner?.text
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
        let tokenCount = entries.count { $0["purchaseToken"] != nil }
        guard tokenCount <= restoreTokenLimit else {
            throw Problem(
                .outOfRange,
                "a restore has at most \(restoreTokenLimit) purchase tokens",
                path: "transactions"
            )
        }
        let isDryRun = try call.isDryRun()
        try call.requireTrace(service)
        // All at once: who comes again as they are told to asks for all of them again.
        try service.access.admitQuestions(tokenCount, of: call.caller)
        var handedIn: [HandedIn] = []
        // What is refused says why and does not hold up the others; nil: it is handed in.
        var refused: [ClaimItem?] = []
        for (index, entry) in entries.enumerated() {
            do {
                switch try await verified(entry, call, service) {
                case .success(let item):
                    handedIn.append(item)
                    refused.append(nil)
                case .failure(let refusal):
                    if !isDryRun { try await service.count(refusal, of: entry.required("store")) }
                    refused.append(ClaimItem(unverified: refusal.code.rawValue, refusal.detail))
                }
            } catch let problem as Problem where problem.code != .storeUnavailable {
                refused.append(ClaimItem(problem, at: index))
            }
            // Others are answered between two signatures.
            await Task.yield()
        }
        // Whoever is told what became of each does not come again: where nothing can be recorded
        // before a store is configured, all of it is to be handed in once more.
        let unconfigured = ProblemCode.notConfigured
        if handedIn.isEmpty, refused.contains(where: { $0?.code == unconfigured.rawValue }) {
            throw Problem(
                unconfigured,
                "nothing can be recorded before a store of these transactions is configured"
            )
        }
        var restored = try await (isDryRun ? planned : made)(handedIn, call, service)[...]
        let items = refused.map { $0 ?? restored.removeFirst() }
        return Answer(RestoreAnswer(items: items, isDryRun: isDryRun))
    }

    /// Makes a restore: an item for each.
    private static func made(
        _ handedIn: [HandedIn],
        _ call: Call,
        _ service: LedgerService
    ) async throws -> [ClaimItem] {
        let confirmed = try await service.sync.confirm(
            handedIn,
            within: service.confirmationLimit
        )
        // What its store does not know is refused beside the others.
        let items = confirmed.compactMap { try? $0.get() }
        let transactions = items.map(\.transaction)
        let customer = try call.customer
        let request = try call.request(service, source: Source.app, environment: .production)
        let outcomes = try await service.appending {
            try service.ledger.appender.restore(transactions, for: customer, request)
        }
        let concerned = zip(outcomes, transactions)
            .map { (owner: call.visible($0.owner), environment: $1.facts.environment) }
        try call.note(concerned, restoreOperation, service)
        for (item, outcome) in zip(items, outcomes) {
            // Whoever was given nothing has a right to Google's refund.
            if case .refused = outcome { continue }
            try await service.acknowledge(item.acknowledgement, call.now)
        }
        var made = zip(outcomes, transactions).map { call.item($0, of: $1.purchase) }[...]
        var told: [ClaimItem] = []
        for (item, confirmed) in zip(handedIn, confirmed) {
            switch confirmed {
            case .success: told.append(made.removeFirst())
            case .failure(let refusal):
                try await service.count(refusal, of: item.transaction.purchase.store)
                told.append(ClaimItem(unverified: refusal.code.rawValue, refusal.detail))
            }
        }
        return told
    }

    /// What a restore would do: an item for each; nothing is recorded, and no store is told.
    private static func planned(
        _ items: [HandedIn],
        _ call: Call,
        _ service: LedgerService
    ) async throws -> [ClaimItem] {
        let transactions = items.map(\.transaction)
        let customer = try call.customer
        let request = try call.request(service, source: Source.app, environment: .production)
        let planned = try await service.blocking {
            try service.ledger.plannedRestore(transactions, for: customer, request)
        }
        let concerned = zip(planned, transactions)
            .map {
                (
                    owner: call.visible($0.formerOwner ?? $0.outcome.owner),
                    environment: $1.facts.environment
                )
            }
        try call.note(concerned, restoreOperation, service)
        return zip(planned, transactions).map { planned, transaction in
            var item = call.item(planned.outcome, of: transaction.purchase)
            item.moves = planned.moves
            if let former = planned.formerOwner { item.owner = call.visible(former)?.text }
            return item
        }
    }

    /// What the store signed, verified.
    private static func verified(
        _ entry: JSONValue,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Result<HandedIn, SignalRefusal> {
        try entry.requireNone(besides: transactionMembers)
        switch try entry.required("store") {
        case Source.appStore:
            guard let verifier = service.stores.appStore else {
                throw Problem(.notConfigured, "the App Store is not configured here")
            }
            let bytes = Array(try entry.required("signedTransaction").utf8)
            return await verifier.transaction(bytes, now: call.now)
                .flatMap { signed in
                    signed.handedIn().map { HandedIn($0, evidence: .appStore(signed)) }
                }
        case Source.playStore:
            guard let configuration = service.stores.playStore else {
                throw Problem(.notConfigured, "Google Play is not configured here")
            }
            if entry["purchaseToken"] == nil {
                return UnverifiedPlayPurchase.reading(
                    purchaseData: try entry.required("purchaseData"),
                    signature: try entry.required("signature")
                )
                .flatMap { $0.verified(by: configuration, receivedAt: call.now) }
                .map { HandedIn($0.handedIn(), evidence: .playStore($0.purchase)) }
            }
            return try await service.transaction(
                ofPlay: try entry.required("purchaseToken"),
                packageName: try entry.required("packageName"),
                configuration,
                call.now
            )
        default:
            throw Problem(
                .invalidValue,
                "expected \(Source.appStore) or \(Source.playStore)",
                path: "store"
            )
        }
    }
}

extension ClaimItem {
    /// What is wrong with a restore's entry, told of that one alone.
    fileprivate init(_ problem: Problem, at index: Int) {
        let place = "transactions[\(index)]" + (problem.path.map { "." + $0 } ?? "")
        let detail = problem.detail ?? problem.code.title
        self.init(unverified: problem.code.rawValue, place + ": " + detail)
    }
}

extension Call {
    /// What became of a transaction, as this caller may know it.
    fileprivate func item(_ outcome: ClaimOutcome, of purchase: PurchaseName) -> ClaimItem {
        var item = ClaimItem(outcome, of: purchase)
        if case .refused(let refusal, let owner) = outcome {
            item.code = problem(of: refusal).code.rawValue
            item.owner = visible(owner)?.text
        }
        return item
    }

    /// The other customer of a claim, for support only (Stores, rule 7).
    fileprivate func visible(_ owner: CustomerID?) -> CustomerID? {
        caller.has(.support) ? owner : nil
    }

    /// Makes sure that whom a claim of support's concerns can be noted: nothing is recorded, or told, without.
    fileprivate func requireTrace(_ service: LedgerService) throws(Problem) {
        guard !leavesTrace || service.accesses.hasRoom else { throw Problem.accessesFull }
    }

    /// Notes whom claims of support's concern (Interfaces, "Who may"): for whom they are made, and whose the
    /// purchases are, where that is told.
    fileprivate func note(
        _ claims: [(owner: CustomerID?, environment: StoreEnvironment)],
        _ operation: String,
        _ service: LedgerService
    ) throws(Problem) {
        let customer = try customer
        for environment in StoreEnvironment.allCases {
            let here = claims.filter { $0.environment == environment }
            guard !here.isEmpty else { continue }
            let accesses = looks(
                at: Set([customer] + here.compactMap(\.owner)).sorted(),
                in: environment,
                operation,
                isAskedByBackends: false
            )
            for access in accesses { service.accesses.add(access) }
        }
    }
}

extension ClaimOutcome {
    /// Whose the purchase is that was refused; nil: it was not, or that is not known.
    fileprivate var owner: CustomerID? {
        guard case .refused(_, let owner) = self else { return nil }
        return owner
    }
}
