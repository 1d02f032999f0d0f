import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What support asks for about who owns a purchase (Stores, rule 7).
extension RouteTable {
    static let ownerRoutes = [
        Route(
            method: .post,
            template: "/v1/purchases/{purchase}/claim",
            operation: claimOperation,
            summary: "Makes a purchase a customer's as it stands, by the catalog's policy.",
            access: .keys([.support]),
            parameters: [
                environmentParameter, dryRunParameter, Route.reasonParameter, idempotencyKey,
            ],
            body: Route.Body(
                shape: .object([Shape.Member("customer", .identifier)], isClosed: true),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems + [.unknownPurchase, .claimedByAnother],
            handler: claimAsItStands
        ),
        Route(
            method: .post,
            template: "/v1/purchases/{purchase}/transfer",
            operation: transferOperation,
            summary: "Makes a customer the owner of a purchase, whatever the catalog's policy.",
            access: .keys([.support]),
            parameters: [environmentParameter, dryRunParameter, idempotencyKey],
            body: Route.Body(
                shape: .object(
                    [Shape.Member("to", .identifier), Shape.Member(.reason)],
                    isClosed: true
                ),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems + [.unknownPurchase],
            handler: transfer
        ),
        Route(
            method: .post,
            template: "/v1/purchases/{purchase}/release",
            operation: releaseOperation,
            summary: "Takes a purchase from its owner, so that nobody owns it.",
            access: .keys([.support]),
            parameters: [environmentParameter, dryRunParameter, idempotencyKey],
            body: Route.Body(
                shape: .object([Shape.Member(.reason)], isClosed: true),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems + [.unknownPurchase],
            handler: release
        ),
    ]

    private static let claimOperation = "claimKnownPurchase"
    private static let transferOperation = "transferPurchase"
    private static let releaseOperation = "releasePurchase"

    @Sendable
    private static func claimAsItStands(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let customer = try customer("customer", in: call.object("customer"))
        let purchase = try call.purchase
        let request = try call.request(service, source: Source.support)
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        let ((receipt, isKnown), dryRun) = try await decided(call, request, service) { _ in
            customer
        } by: { ledger in
            let isKnown = try ledger.questions.isKnown(purchase, environment: request.environment)
            return (try ledger.appender.claim(purchase, for: customer, request), isKnown)
        }
        let answer = try answer(receipt, dryRun, call, request) { $0.isPurchaseKnown = isKnown }
        let accesses = call.accesses(
            to: [customer],
            in: request.environment,
            claimOperation,
            call.accessReason
        )
        for access in accesses { service.accesses.add(access) }
        return answer
    }

    private static func customer(
        _ name: String,
        in body: JSONValue
    ) throws(Problem) -> CustomerID {
        guard let customer = CustomerID(try body.required(name)) else {
            throw Problem(
                .invalidValue,
                "an id has 1 to 1024 bytes without control characters",
                path: name
            )
        }
        return customer
    }

    @Sendable
    private static func transfer(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try call.object("to", "reason")
        let customer = try customer("to", in: body)
        let (purchase, reason) = try (call.purchase, reason(in: body))
        let request = try call.request(service, source: Source.support)
        return try await change(call, request, service, transferOperation, reason, owner: customer)
        {
            try $0.appender.transfer(purchase, to: customer, reason: reason, request)
        }
    }

    @Sendable
    private static func release(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let (purchase, reason) = try (call.purchase, reason(in: call.object("reason")))
        let request = try call.request(service, source: Source.support)
        return try await change(call, request, service, releaseOperation, reason, owner: nil) {
            try $0.appender.release(purchase, reason: reason, request)
        }
    }

    private static func reason(in body: JSONValue) throws(Problem) -> String {
        try reason(body.required("reason"))
    }

    /// Why somebody asks, of a length that is kept.
    static func reason(_ reason: String) throws(Problem) -> String {
        guard (1...FieldShape.textByteLimit).contains(reason.utf8.count) else {
            throw Problem(
                .invalidValue,
                "expected 1 to \(FieldShape.textByteLimit) bytes of text",
                path: "reason"
            )
        }
        return reason
    }

    /// Makes a decision (`decided`), and notes whom it concerned.
    ///
    /// `owner`: who is to own the purchase; nil: nobody, and what differs is told of who owned it.
    /// `action`: the route's operation.
    private static func change(
        _ call: Call,
        _ request: LedgerRequest,
        _ service: LedgerService,
        _ action: String,
        _ reason: String,
        owner: CustomerID?,
        by decide: @escaping @Sendable (Ledger) throws -> OwnerOutcome
    ) async throws -> Answer {
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        let (outcome, dryRun) = try await decided(
            call,
            request,
            service,
            about: { owner ?? $0.formerOwner },
            by: decide
        )
        let answer = try answer(outcome.receipt, dryRun, call, request) {
            // Who asks is support, and is told whose the purchase was (Stores, rule 7).
            $0.formerOwner = outcome.formerOwner?.text
        }
        let concerned = [owner, outcome.formerOwner].compactMap(\.self)
        for access in call.accesses(to: concerned, in: request.environment, action, reason) {
            service.accesses.add(access)
        }
        return answer
    }
}

extension Call {
    /// The purchase that the path names.
    var purchase: PurchaseName {
        get throws(Problem) {
            guard let name = path[.purchase].flatMap({ PurchaseName($0) }) else {
                throw Problem(
                    .unknownPurchase,
                    "a purchase is STORE/ORIGINAL_ID, percent-encoded in one segment"
                )
            }
            return name
        }
    }
}
