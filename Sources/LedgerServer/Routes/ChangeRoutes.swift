import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What backends, support and customers ask to have recorded.
extension RouteTable {
    static let changeRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/grants",
            operation: "grant",
            summary: "Gives features or a tier by hand.",
            access: .keys([.write, .support]),
            parameters: [environmentParameter, dryRunParameter, idempotencyKey],
            body: Route.Body(
                shape: .either(grantShapes),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems,
            isLogged: true,
            handler: grant
        ),
        Route(
            method: .delete,
            template: "/v1/customers/{id}/grants/{grantId}",
            operation: "withdrawGrant",
            summary: "Ends a grant.",
            access: .keys([.write, .support]),
            parameters: [environmentParameter, dryRunParameter, idempotencyKey],
            answers: [receiptReply],
            problems: appendProblems + [.unknownGrant],
            isLogged: true,
            handler: withdraw
        ),
        Route(
            method: .post,
            template: "/v1/customers/{id}/trials",
            operation: "startTrial",
            summary: "Starts a trial, once for each customer and trial.",
            access: .customer([.write]),
            parameters: [environmentParameter, dryRunParameter, idempotencyKey],
            body: Route.Body(
                shape: .object([Shape.Member(.trialID)], isClosed: true),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems + [.trialUsed, .unknownTrial],
            isLogged: true,
            handler: startTrial
        ),
        Route(
            method: .post,
            template: "/v1/customers/{id}/links",
            operation: "linkCustomer",
            summary: "Makes another id a name of a customer.",
            access: .keys([.write, .support]),
            parameters: [environmentParameter, dryRunParameter, idempotencyKey],
            body: Route.Body(
                shape: .object([Shape.Member(.alias)], isClosed: true),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems,
            isLogged: true,
            handler: link
        ),
        Route(
            method: .post,
            template: "/v1/customers/{id}/usage",
            operation: "use",
            summary: "Checks and records a limited use in one step, or takes one back.",
            access: .customer([.write]),
            parameters: [environmentParameter, dryRunParameter, idempotencyKey],
            body: Route.Body(
                shape: .either([
                    .object(
                        [Shape.Member(.featureID)],
                        optional: [Shape.Member(.amount), Shape.Member(.unit)],
                        isClosed: true
                    ),
                    .object([Shape.Member("undo", .identifier)], isClosed: true),
                ]),
                byteLimit: smallBodyLimit
            ),
            answers: [receiptReply],
            problems: appendProblems + [.notAllowed, .overLimit, .unknownFeature, .unknownUse],
            isLogged: true,
            handler: use
        ),
    ]

    /// A grant gives a tier, features or both.
    private static let grantShapes = [
        (Shape.Member(.tier), Shape.Member(.features)),
        (Shape.Member("features", .some(.field(.name))), Shape.Member(.tier)),
    ]
    .map { given, other in
        Shape.object(
            [given],
            optional: [other] + [Field.grantID, .expiresAt, .reason].map { Shape.Member($0) },
            isClosed: true
        )
    }

    static let receiptReply = Route.Reply(
        status: 200,
        text: "On the disk, now or since an earlier time",
        shape: .named("Receipt")
    )

    @Sendable
    private static func grant(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let request = try call.request(service, source: Source.support)
        let data = try call.data(.grantGiven, default: JSONMember("grantId", .string(request.id)))
        guard let grantID = data.text(.grantID),
            data.texts(.features)?.isEmpty == false || data.text(.tier) != nil
        else {
            throw Problem(.missingField, "a grant gives features or a tier", path: "features")
        }
        let customer = try call.customer
        return try await record(call, request, service, about: customer) {
            $0.grantID = grantID
        } by: { ledger in
            try ledger.appender.grant(
                grantID,
                to: customer,
                features: data.texts(.features) ?? [],
                tier: data.text(.tier),
                expiresAt: data.instant(.expiresAt),
                reason: data.text(.reason),
                request
            )
        }
    }

    @Sendable
    private static func withdraw(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let customer = try call.customer
        let grantID = call.path[.grantID] ?? ""
        guard Identifier.isValid(grantID) else { throw Problem(.unknownGrant) }
        let request = try call.request(service, source: Source.support)
        return try await record(call, request, service, about: customer) {
            $0.grantID = grantID
        } by: { ledger in
            try ledger.appender.withdraw(grantID, from: customer, request)
        }
    }

    @Sendable
    private static func startTrial(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let request = try call.request(service, source: Source.app)
        let data = try call.data(.trialStarted)
        let customer = try call.customer
        return try await record(call, request, service, about: customer) { ledger in
            try ledger.appender.startTrial(
                data.text(.trialID) ?? "",
                for: customer,
                request
            )
        }
    }

    @Sendable
    private static func link(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let request = try call.request(service, source: Source.support)
        let data = try call.data(.customerLinked)
        let customer = try call.customer
        guard let alias = data.text(.alias).flatMap({ CustomerID($0) }) else {
            throw Problem(.missingField, "required", path: "alias")
        }
        return try await record(call, request, service, about: customer) { ledger in
            try ledger.appender.link(alias, to: customer, request)
        }
    }

    @Sendable
    private static func use(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let request = try call.request(service, source: Source.app)
        let customer = try call.customer
        if let undo = ObjectReader(try call.json()).value("undo") {
            // Who may take back what was used up has no limit.
            guard call.visibility == .everything else {
                throw Problem(.forbidden, "taking back a use needs a key that may write")
            }
            _ = try call.object("undo")
            let useID = try call.data(.usageReversed, .members(["useId": undo])).text(.useID) ?? ""
            return try await record(call, request, service, about: customer) {
                $0.useID = useID
            } by: { ledger in
                try ledger.appender.reverseUse(useID, of: customer, request)
            }
        }
        _ = try call.object("featureId", "amount", "unit")
        let data = try call.data(
            .usageRecorded,
            default: JSONMember("useId", .string(request.id))
        )
        let (outcome, dryRun) = try await decided(call, request, service) { _ in
            customer
        } by: { ledger in
            try ledger.appender.use(
                data.text(.featureID) ?? "",
                by: customer,
                amount: data.integer(.amount),
                unit: data.text(.unit),
                request
            )
        }
        return try answer(outcome.receipt, dryRun, call, request) { answer in
            answer.useID = request.id
            answer.use = ReceiptAnswer.Use(outcome)
        }
    }

    /// Makes a decision (`decided`), and answers with its receipt.
    ///
    /// `customer`: whom it is about; nil: nobody in particular. `tell`: says in the answer what else there is
    /// to tell.
    static func record(
        _ call: Call,
        _ request: LedgerRequest,
        _ service: LedgerService,
        about customer: CustomerID?,
        _ tell: (inout ReceiptAnswer) -> Void = { _ in },
        by decide: @escaping @Sendable (Ledger) throws -> Receipt
    ) async throws -> Answer {
        let (receipt, dryRun) = try await decided(call, request, service) { _ in
            customer
        } by: {
            try decide($0)
        }
        return try answer(receipt, dryRun, call, request, tell)
    }

    /// What a decision came to, made where it may wait for the disk; of a dry run in a draft of the ledger, with
    /// what would differ for a customer.
    static func decided<Outcome: Sendable>(
        _ call: Call,
        _ request: LedgerRequest,
        _ service: LedgerService,
        about customer: @escaping @Sendable (Outcome) -> CustomerID?,
        by decide: @escaping @Sendable (Ledger) throws -> Outcome
    ) async throws -> (outcome: Outcome, dryRun: ReceiptAnswer.DryRun?) {
        guard try call.isDryRun() else {
            return (try await service.appending { try decide(service.ledger) }, nil)
        }
        // It tells of a customer what a question tells, to nobody but whom that is answered.
        guard call.caller.has(anyOf: [.read, .support]) else {
            throw Problem(.forbidden, "a dry run needs a key that may read", path: "dry-run")
        }
        let (outcome, difference) = try await service.blocking {
            try service.ledger.rehearse(
                in: request.environment,
                at: service.clock,
                about: customer,
                decide
            )
        }
        return (outcome, ReceiptAnswer.DryRun(difference: difference))
    }

    /// What became of a request, or its problem.
    static func answer(
        _ receipt: Receipt,
        _ dryRun: ReceiptAnswer.DryRun?,
        _ call: Call,
        _ request: LedgerRequest,
        _ tell: (inout ReceiptAnswer) -> Void
    ) throws -> Answer {
        var answer = ReceiptAnswer(
            receipt: try SignalReceipt(receipt) { call.problem(of: $0) },
            id: request.id
        )
        tell(&answer)
        answer.dryRun = dryRun
        // What a draft came to is no place in the log.
        return dryRun == nil ? Answer(answer).at(receipt) : Answer(answer)
    }
}
