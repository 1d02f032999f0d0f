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
            answers: replies(.named("State")),
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
            parameters: pointParameters,
            answers: replies(.named("FeatureAnswer")),
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
            answers: replies(.named("Timeline")) + [drawingReply],
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
            answers: replies(.named("Purchases")),
            problems: questionProblems,
            isLogged: true,
            handler: purchases
        ),
    ]

    static let questionProblems: [ProblemCode] = [
        .invalidValue, .unknownSequence, .notThereYet, .clockBehind, .clockAhead,
    ]

    static func replies(_ shape: Shape) -> [Route.Reply] {
        [
            Route.Reply(status: 200, text: "The answer", shape: shape),
            Route.Reply(status: 304, text: "As the caller has it already", shape: nil),
        ]
    }

    @Sendable
    private static func show(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await ask(call, service) { ledger, question in try ledger.show(question) }
    }

    @Sendable
    private static func timeline(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let answer = try await ask(call, service) { ledger, question in
            try ledger.timelineAnswer(question)
        }
        return call.prefersSVG ? try await drawn(answer, service) : answer
    }

    @Sendable
    private static func purchases(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await ask(call, service) { ledger, question in try ledger.purchases(of: question) }
    }

    /// Asks where it may wait for the disk; the tag leaves out what changes with the clock alone.
    static func ask(
        _ call: Call,
        _ service: LedgerService,
        _ body: @escaping @Sendable (Ledger, CustomerQuestion) throws -> JSONValue
    ) async throws -> Answer {
        let question = try call.question()
        try await service.require(call.minimumSequence())
        let json = try await service.blocking { try body(service.ledger, question) }
        var answer = Answer(json)
        let content = JSONValue.object(
            (json.members ?? []).filter { !["at", "sequence", "token"].contains($0.name) }
        )
        answer.caching = .until(
            call.validUntil(json["validUntil"]),
            digest: ContentDigest.text(of: content.description)
        )
        if let sequence = json["sequence"]?.integer {
            answer.headers[.ledgerSequence] = String(sequence)
        }
        return answer
    }

    /// Now, everything known: an answer that stands is given on the caller's thread.
    @Sendable
    private static func check(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await service.require(call.minimumSequence())
        let environment = try call.environment()
        let feature = call.path["feature"] ?? ""
        guard call.asksNow, call.query["known"] == nil,
            call.query["knownSequence"] == nil
        else { return try await checkThen(call, feature, service) }
        // Before the answer: it is made from no less than the header says.
        let size = try service.ledger.size()
        let standing = try await service.standing(call.customer, environment, at: call.now)
        guard let answer = standing.features[feature] else {
            throw Problem(.unknownFeature, "the catalog in force has no such feature")
        }
        return Self.answer(
            call,
            feature,
            at: call.now,
            answer.json,
            digest: answer.digest,
            validUntil: standing.validUntil,
            sequence: size
        )
    }

    /// At another point.
    private static func checkThen(
        _ call: Call,
        _ feature: String,
        _ service: LedgerService
    ) async throws -> Answer {
        let question = try call.question()
        let point = question.point
        let (json, size) = try await service.blocking {
            let ledger = service.ledger
            let state = try ledger.access(to: feature, question)
            return (
                try state?.json(names: ledger.names).description,
                try ledger.prefix(knownAt: point.knownAt)
            )
        }
        guard let json else {
            throw Problem(.unknownFeature, "the catalog in force has no such feature")
        }
        return Self.answer(
            call,
            feature,
            at: point.at,
            json,
            digest: ContentDigest.text(of: json),
            validUntil: call.validUntil(nil),
            sequence: size
        )
    }

    private static func answer(
        _ call: Call,
        _ feature: String,
        at: Instant,
        _ json: String,
        digest: String,
        validUntil: Instant?,
        sequence: UInt64
    ) -> Answer {
        var text = ""
        text.reserveCapacity(
            json.utf8.count + call.customer.utf8.count + feature.utf8.count + 64
        )
        text += "{\"customer\":"
        JSONValue.string(call.customer).write(to: &text)
        text += ",\"feature\":"
        JSONValue.string(feature).write(to: &text)
        text += ",\"at\":\""
        text += at.description
        text += "\","
        text += json.dropFirst()
        var answer = Answer(text: text, mediaType: "application/json")
        answer.caching = .until(validUntil, digest: digest)
        answer.headers.append(HTTPField(name: .ledgerSequence, value: String(sequence)))
        return answer
    }
}

extension Call {
    /// Until when an answer may be taken without asking again (Z15).
    ///
    /// `stated`: the answer's `validUntil`; where T moves with the clock and the answer does not
    /// say, it holds for now only. At a fixed T nothing changes without a new event.
    fileprivate func validUntil(_ stated: JSONValue?) -> Instant? {
        guard asksNow else { return nil }
        guard let stated else { return now }
        return stated.string.flatMap { Instant(rfc3339: $0) }
    }
}

extension LedgerService {
    /// The features of a customer now: as they stand, or folded where it may wait for the disk.
    func standing(
        _ customer: String,
        _ environment: StoreEnvironment,
        at now: Instant
    ) async throws -> StandingFeatures {
        let kept = try ledger.keptFeatures(of: customer, environment: environment, at: now)
        if let kept { return kept }
        return try await blocking { [ledger] in
            try ledger.foldFeatures(of: customer, environment: environment, at: now)
        }
    }
}
