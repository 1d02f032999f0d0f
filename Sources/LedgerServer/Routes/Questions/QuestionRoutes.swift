import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// Questions about one customer.
extension RouteTable {
    static let questionRoutes = [
        Route(
            method: .get,
            template: "/v1/customers/{id}",
            operation: "showCustomer",
            summary: "What a customer is entitled to at T, as known at R.",
            access: .customer([.read, .support]),
            parameters: pointParameters,
            answers: replies(.described(StateAnswer.self)),
            problems: questionProblems,
            isLogged: true,
            isAskedByBackends: true,
            handler: show
        ),
        Route(
            method: .get,
            template: "/v1/customers/{id}/features/{feature}",
            operation: "checkFeature",
            summary: "Whether a customer has a feature: the hot path.",
            access: .customer([.read, .support]),
            parameters: pointParameters + [
                Route.Parameter(
                    name: "token",
                    text: "`true`: with the decision token, which asks the same question again",
                    shape: .boolean
                )
            ],
            answers: replies(.described(AccessAnswer.self)),
            problems: questionProblems + [.unknownFeature],
            isLogged: true,
            isAskedByBackends: true,
            handler: check
        ),
        Route(
            method: .get,
            template: "/v1/customers/{id}/timeline",
            operation: "showTimeline",
            summary: "A customer over time, in both times; drawn for whom prefers SVG.",
            access: .customer([.read, .support]),
            parameters: pointParameters,
            answers: replies(.described(TimelineAnswer.self)) + [drawingReply],
            problems: questionProblems,
            isLogged: true,
            handler: timeline
        ),
        Route(
            method: .get,
            template: "/v1/customers/{id}/purchases",
            operation: "listPurchases",
            summary: "What a customer bought, with every period (row 7.1).",
            access: .customer([.read, .support]),
            parameters: pointParameters,
            answers: replies(.described(PurchasesAnswer.self)),
            problems: questionProblems,
            isLogged: true,
            handler: purchases
        ),
    ]

    static let questionProblems: [ProblemCode] = [
        .invalidValue, .unknownSequence, .clockBehind, .clockAhead,
    ]

    static func replies(_ shape: Shape) -> [Route.Reply] {
        [
            Route.Reply(status: 200, text: "The answer", shape: shape),
            Route.Reply(status: 304, text: "As the caller has it already", shape: nil),
        ]
    }

    @Sendable
    private static func show(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let written = try await written(call, service) { ledger, question in
            try ledger.questions.show(question)
        }
        return answer(call, written, validUntil: .some(written.state.validUntil))
    }

    @Sendable
    private static func timeline(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let written = try await written(call, service) { ledger, question in
            try ledger.questions.timelineAnswer(question)
        }
        let answer = answer(call, written, validUntil: nil)
        return call.prefersSVG ? try await drawn(written.answer, answer, service) : answer
    }

    @Sendable
    private static func purchases(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let written = try await written(call, service) { ledger, question in
            try ledger.questions.purchases(of: question)
        }
        return answer(call, written, validUntil: .some(written.validUntil))
    }

    /// Asks where it may wait for the disk.
    static func written<Content>(
        _ call: Call,
        _ service: LedgerService,
        _ body: @escaping @Sendable (Ledger, CustomerQuestion) throws -> Written<Content>
    ) async throws -> Written<Content> {
        let question = try call.question()
        try await service.require(call.minimumSequence())
        return try await service.computing { try body(service.ledger, question) }
    }

    /// The tag leaves out what changes with the clock alone.
    ///
    /// `validUntil`: of the answer; nil: it does not say.
    static func answer(
        _ call: Call,
        _ written: Written<some AboutCustomer>,
        validUntil: Instant??
    ) -> Answer {
        var answer = Answer(written)
        answer.caching = .until(
            call.validUntil(validUntil),
            digest: ContentDigest.text(of: written.text.lasting)
        )
        answer.headers[.ledgerSequence] = String(written.question.sequence)
        return answer
    }

    /// Now, everything known: an answer that stands is given on the caller's thread.
    @Sendable
    private static func check(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await service.require(call.minimumSequence())
        let environment = try call.environment()
        let feature = call.path[.feature] ?? ""
        guard call.asksNow, call.query[.known] == nil, call.query[.knownSequence] == nil,
            try !call.wantsToken()
        else { return try await checkThen(call, feature, service) }
        // Before the answer: what is recorded meanwhile may make it one of a longer prefix.
        let size = try service.ledger.questions.size()
        let customer = try call.customer
        let access = try await service.access(customer, environment, at: call.now)
        guard let kept = access.features?[feature],
            try service.ledger.questions.isMade(access, from: size)
        else { return try await checkThen(call, feature, service) }
        let echo = QuestionEcho(
            customer: customer.text,
            environment: environment,
            at: call.now,
            known: nil,
            sequence: size
        )
        let head = AnswerText(AccessAnswer.Head(question: echo, feature: feature))
        var answer = Answer(bytes: head.followed(by: kept.text), mediaType: "application/json")
        answer.caching = .until(access.holdsUntil, digest: kept.digest)
        answer.headers.append(HTTPField(name: .ledgerSequence, value: String(size)))
        return answer
    }

    /// At another point, with a token, about a feature that the catalog in force does not list, or where
    /// something was recorded meanwhile.
    private static func checkThen(
        _ call: Call,
        _ feature: String,
        _ service: LedgerService
    ) async throws -> Answer {
        let withToken = try call.wantsToken()
        let written = try await written(call, service) { ledger, question in
            guard try ledger.questions.isListed(feature, at: question.point) else {
                let listed = try ledger.questions.catalogHistory(
                    size: ledger.questions.prefix(knownAt: question.point.knownAt)
                ).featureIDs.texts
                throw Problem(unknownFeatureNear: NearNames.near(feature, among: listed))
            }
            return try ledger.questions.accessAnswer(feature, question)
        }
        let answer = withToken ? written : written.withoutToken
        return Self.answer(call, answer, validUntil: .some(written.decision.validUntil))
    }
}

extension Call {
    /// Whether the answer carries its decision token.
    fileprivate func wantsToken() throws(Problem) -> Bool { try flag(.token) }

    /// Until when an answer may be taken without asking again (Z15).
    ///
    /// `stated`: the answer's `validUntil`; where T moves with the clock and the answer does not
    /// say, it holds for now only. At a fixed T nothing changes without a new event.
    fileprivate func validUntil(_ stated: Instant??) -> Instant? {
        guard asksNow else { return nil }
        return stated ?? now
    }
}

extension LedgerService {
    /// What a customer may use now: as it is kept, or folded where it may wait for the disk.
    func access(
        _ customer: CustomerID,
        _ environment: StoreEnvironment,
        at now: Instant
    ) async throws -> CachedAccess {
        let cached = try ledger.questions.cachedAccess(
            of: customer,
            environment: environment,
            at: now
        )
        if let cached, cached.features != nil { return cached }
        return try await computing { [ledger] in
            try ledger.questions.foldAccess(
                of: customer,
                environment: environment,
                at: now,
                isWritten: true
            )
        }
    }
}
