import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What happens in the app while somebody buys (rows 2.2, 2.4, 10.1).
extension RouteTable {
    static let flowRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/flows",
            operation: "recordFlow",
            summary: "A purchase flow has started or ended: one at a time for each customer.",
            access: .customer([.write]),
            parameters: [environmentParameter, idempotencyKey],
            body: Route.Body(
                shape: .object(
                    [
                        Shape.Member("type", .choice(kinds.map(\.word))),
                        Shape.Member(.flowID),
                    ],
                    optional: [Field.productID, .errorCode, .stages, .platform, .experiment].map {
                        Shape.Member($0)
                    },
                    isClosed: true
                ),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems + [.purchaseInProgress],
            isLogged: true,
            handler: record
        )
    ]

    private static let kinds: [(word: String, kind: EventKind)] = [
        ("started", .flowStarted), ("succeeded", .flowSucceeded), ("failed", .flowFailed),
        ("cancelled", .flowCancelled), ("pending", .flowPending), ("restored", .flowRestored),
    ]

    @Sendable
    private static func record(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try call.json()
        let word = try body.required("type")
        guard let kind = kinds.first(where: { $0.word == word })?.kind else {
            let words = kinds.map(\.word).joined(separator: ", ")
            throw Problem(.invalidValue, "expected one of \(words)", path: "type")
        }
        let members = (body.members ?? []).filter { $0.name != "type" }
        let data = try call.data(kind, .object(members))
        let flowID = data.text(.flowID) ?? ""
        let request = try call.request(service, source: Source.app)
        let flows = service.access.flows
        let customer = try call.customer
        let isStart = kind == .flowStarted
        var hasBegun = false
        if isStart {
            let outcome = flows.begin(
                flowID,
                of: customer,
                in: request.environment,
                at: call.now
            )
            hasBegun = outcome.hasBegun
            if let problem = call.problem(of: outcome) {
                // E1: a start that was recorded before has its first outcome, whoever buys by now.
                guard call.headers[.idempotencyKey] != nil,
                    try await isRepeated(data, of: customer, request, service)
                else { throw problem }
            }
        }
        return try await self.record(call, request, service, about: customer) {
            [hasBegun, now = call.now] ledger in
            // A start that is not recorded, or was before, begins nothing and shuts nobody out.
            var isOver = hasBegun
            defer {
                if isOver { flows.end(flowID, of: customer, in: request.environment, at: now) }
            }
            let receipt = try ledger.appender.recordFlow(data, of: customer, request)
            switch receipt {
            // A flow runs until its end is on the disk.
            case .appended: isOver = !isStart
            case .duplicate: isOver = hasBegun || !isStart
            case .known, .refused: break
            }
            return receipt
        }
    }

    /// Whether a request was decided before; a draft of the ledger says what it comes to.
    private static func isRepeated(
        _ data: EventData,
        of customer: CustomerID,
        _ request: LedgerRequest,
        _ service: LedgerService
    ) async throws -> Bool {
        try await service.blocking {
            let draft = try service.ledger.draft()
            let receipt = try draft.appender.recordFlow(data, of: customer, request)
            try draft.close()
            guard case .appended = receipt else { return true }
            return false
        }
    }
}

extension PurchaseFlowLock.Outcome {
    fileprivate var hasBegun: Bool {
        guard case .began = self else { return false }
        return true
    }
}

extension Call {
    /// Why a flow may not begin; nil: it may.
    fileprivate func problem(of outcome: PurchaseFlowLock.Outcome) -> Problem? {
        switch outcome {
        case .began, .sameFlow: nil
        case .busy(let until):
            Problem(
                .purchaseInProgress,
                "another flow of this customer runs until it ends or expires",
                retryAfter: seconds(until: until)
            )
        case .full: Problem(.busy, "too many flows run", retryAfter: 60)
        }
    }
}
