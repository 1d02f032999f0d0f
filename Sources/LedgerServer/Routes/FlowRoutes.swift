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
        let release: @Sendable () -> Void = { [now = call.now] in
            flows.end(flowID, of: customer, in: request.environment, at: now)
        }
        var hasBegun = false
        if kind == .flowStarted {
            let outcome = flows.begin(
                flowID,
                of: customer,
                in: request.environment,
                at: call.now
            )
            switch outcome {
            case .began: hasBegun = true
            case .sameFlow: break
            case .busy(let until):
                throw Problem(
                    .purchaseInProgress,
                    "another flow of this customer runs until it ends or expires",
                    retryAfter: call.seconds(until: until)
                )
            case .full: throw Problem(.busy, "too many flows run", retryAfter: 60)
            }
        } else {
            release()
        }
        return try await self.record(call, request, service, about: customer) { [hasBegun] ledger in
            // What is not recorded, or was before, begins nothing and shuts nobody out.
            var isNew = false
            defer { if hasBegun, !isNew { release() } }
            let receipt = try ledger.appender.recordFlow(data, of: customer, request)
            if case .appended = receipt { isNew = true }
            return receipt
        }
    }
}
