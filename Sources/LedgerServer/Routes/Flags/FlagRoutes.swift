import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// Feature access as feature flags: the OpenFeature Remote Evaluation Protocol 0.3.0
/// (open-feature/protocol), so that existing SDKs are clients (Z8).
///
/// A flag is a feature; its value is whether the customer (`targetingKey`) may use it. The environment is
/// the context's `environment`, default production. All flags come with an address at which notices tell that
/// they are others now (`eventStreams`).
extension RouteTable {
    static let flagRoutes = [
        Route(
            method: .post,
            template: "/ofrep/v1/evaluate/flags/{key}",
            operation: "evaluateFlag",
            summary: "One feature as a flag (OpenFeature remote evaluation).",
            access: .anyCustomer([.read]),
            parameters: [minimumSequence],
            body: Route.Body(shape: .named("EvaluationContext"), byteLimit: smallBodyLimit),
            answers: [
                Route.Reply(status: 200, text: "The flag's value", shape: .named("Flag")),
                failure(400, "The context cannot be used"),
                failure(404, "The catalog in force has no such feature"),
            ],
            handler: evaluateOne
        ),
        Route(
            method: .post,
            template: "/ofrep/v1/evaluate/flags",
            operation: "evaluateFlags",
            summary: "All features as flags (OpenFeature remote evaluation).",
            access: .anyCustomer([.read]),
            parameters: [
                Route.Parameter(
                    name: "flagConfigEtag",
                    text: "Taken and passed over: answers are made from the log as it stands"
                ),
                Route.Parameter(
                    name: "flagConfigLastModified",
                    text: "Taken and passed over: answers are made from the log as it stands"
                ), minimumSequence,
            ],
            body: Route.Body(shape: .named("EvaluationContext"), byteLimit: smallBodyLimit),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Every flag, by key",
                    shape: .object(
                        [
                            Shape.Member("flags", .list(.named("Flag"))),
                            Shape.Member("metadata", .map(.either([.boolean, .text, .integer]))),
                        ],
                        optional: [Shape.Member("eventStreams", .list(.named("FlagStream")))]
                    )
                ),
                Route.Reply(status: 304, text: "As the caller has it already", shape: nil),
                failure(400, "The context cannot be used"),
            ],
            handler: evaluateAll
        ),
        Route(
            method: .get,
            template: changesPath,
            operation: "streamFlagChanges",
            summary: "Notices that flags are others now (OpenFeature remote evaluation).",
            access: .open,
            parameters: [
                Route.Parameter(
                    name: "ticket",
                    text: "What the flags' `eventStreams` say; it opens this for an hour",
                    isRequired: true
                ),
                Route.Parameter(
                    name: "Last-Event-ID",
                    place: .header,
                    text:
                        "The last notice that one has (default: the flags that the ticket came with)"
                ),
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text:
                        "`data` is a `refetchEvaluation` with the flags' `etag`; comments in silence",
                    shape: .text,
                    mediaType: "text/event-stream"
                )
            ],
            problems: [.missingField, .unauthenticated],
            handler: streamChanges
        ),
    ]

    private static let changesPath = "/ofrep/v1/changes"
    /// Seconds after which who is not looked at closes the stream (`inactivityDelaySec`).
    private static let inactivitySeconds = 120

    private static func failure(_ status: Int, _ text: String) -> Route.Reply {
        Route.Reply(status: status, text: text, shape: .named("FlagFailure"))
    }

    @Sendable
    private static func evaluateOne(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let key = call.path[.key] ?? ""
        let subject: EvaluationSubject
        do throws(InputFault) { subject = try EvaluationSubject(call) } catch {
            return FlagFailure(error).answer(key: key)
        }
        let (access, size) = try await subject.access(call, service)
        guard let feature = access.features?[key] else {
            return FlagFailure.notFound.answer(key: key).at(size: size)
        }
        return Answer(Flags.flag(key, feature, access)).at(size: size)
    }

    @Sendable
    private static func evaluateAll(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let subject: EvaluationSubject
        do throws(InputFault) { subject = try EvaluationSubject(call) } catch {
            return FlagFailure(error).answer(key: nil)
        }
        let (access, size) = try await subject.access(call, service)
        let flags = Flags(access)
        let digest = flags.digest
        var members = [
            JSONMember("flags", flags.json), JSONMember("metadata", .object([])),
        ]
        if let stream = try stream(of: subject, digest, call, service) {
            members.append(JSONMember("eventStreams", .array([stream])))
        }
        var answer = Answer(.object(members)).at(size: size)
        answer.caching = .until(access.holdsUntil, digest: Flags.tag(digest, at: call.now))
        return answer
    }

    /// Where changes of a customer's flags are told; nil: the ledger's key is not at hand.
    private static func stream(
        of subject: EvaluationSubject,
        _ digest: String,
        _ call: Call,
        _ service: LedgerService
    ) throws -> JSONValue? {
        guard let tickets = service.changeTickets else { return nil }
        let ticket = CustomerTicket(
            customer: subject.customer,
            environment: subject.environment,
            keyID: call.caller.keyID,
            end: Instant(milliseconds: call.now.milliseconds + CustomerTicket.noticeLifetime),
            digest: digest
        )
        return .members([
            "type": "sse",
            // Relative to where the flags were asked for: a proxy may stand between.
            "endpoint": .members([
                "requestUri": .string(changesPath + "?ticket=" + (try tickets.text(of: ticket)))
            ]),
            "inactivityDelaySec": .integer(inactivitySeconds),
        ])
    }

    @Sendable
    private static func streamChanges(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        guard let text = call.query[.ticket] else {
            throw Problem(.missingField, "the address says a ticket", path: "ticket")
        }
        guard let ticket = service.changeTickets?.ticket(text),
            ticket.stands([.read], in: service, at: call.now)
        else { throw Problem(.unauthenticated, "the ticket is over: ask for the flags again") }
        let changes = FlagChanges(
            service,
            ticket,
            known: call.headers[.lastEventID] ?? ticket.digest ?? ""
        )
        return Answer(mediaType: "text/event-stream") { try await changes.next() }
    }
}

/// A customer's flags, by key.
struct Flags {
    let json: JSONValue

    init(_ access: CachedAccess) {
        json = .array(
            (access.features ?? [:]).sorted { $0.key < $1.key }
                .map { Self.flag($0.key.text, $0.value, access) }
        )
    }

    /// What tells whether they are others.
    var digest: String { ContentDigest.text(of: Array(json.description.utf8)) }

    /// What the answer with flags of a digest is told apart by at an instant.
    ///
    /// It is another one before the ticket is over that came with them: whoever asks by it gets a new
    /// ticket, though no flag changed.
    static func tag(_ digest: String, at now: Instant) -> String {
        digest + "-" + String(now.milliseconds / (CustomerTicket.noticeLifetime / 2))
    }

    /// All members are always there: the reference provider reads them without asking.
    static func flag(
        _ key: String,
        _ feature: CachedAccess.Feature,
        _ access: CachedAccess
    ) -> JSONValue {
        var metadata = [JSONMember("reason", .string(feature.reason.rawValue))]
        if let refusal = feature.refusal {
            metadata.append(JSONMember("refusal", .string(refusal.rawValue)))
        }
        if let validUntil = access.validUntil {
            metadata.append(JSONMember("validUntil", .instant(validUntil)))
        }
        return .members([
            "key": .string(key), "value": .bool(feature.isUsable),
            "reason": "TARGETING_MATCH",
            "variant": .string(feature.isUsable ? "allowed" : "denied"),
            "metadata": .object(metadata),
        ])
    }
}

/// Whom an evaluation is about.
private struct EvaluationSubject {
    var customer: CustomerID
    var environment: StoreEnvironment

    init(_ call: Call) throws(InputFault) {
        let body: JSONValue
        do throws(Problem) { body = try call.json() } catch {
            throw InputFault(.malformed, "", error.detail ?? "not JSON")
        }
        let context = ObjectReader(
            try ObjectReader(body).required(Self.context, "expected a context object") { json in
                json.members.map { _ in json }
            },
            at: Self.context
        )
        guard context.value(Self.key) != nil else {
            throw context.fault(Self.key, "the targetingKey is the customer's id", .missingField)
        }
        customer = try context.required(Self.key, "the targetingKey is not an id") { json in
            json.string.flatMap { CustomerID($0) }
        }
        guard context.value("environment") != nil else {
            environment = .production
            return
        }
        environment = try context.required(
            "environment",
            "environment is production, sandbox or local"
        ) { json in json.string.flatMap { StoreEnvironment(name: $0) } }
    }

    private static let context = "context"
    private static let key = "targetingKey"

    /// What they may use now; with the size of a log that no less of was looked at (read your writes).
    func access(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> (CachedAccess, size: UInt64) {
        // Row 9.4: a customer reaches themselves only; the same answer whoever else it is.
        if case .customer = call.caller, !call.caller.isCustomer(customer) {
            throw Problem(.notFound)
        }
        try await service.require(call.minimumSequence())
        // Before the look.
        let size = try service.ledger.questions.size()
        return (try await service.access(customer, environment, at: call.now), size: size)
    }
}

/// Why a flag is not evaluated, in the protocol's words.
private struct FlagFailure {
    var status = 400
    var code: String
    var details: String

    static let notFound = FlagFailure(
        status: 404,
        code: "FLAG_NOT_FOUND",
        details: "the catalog has no such feature"
    )

    private init(status: Int, code: String, details: String) {
        self.status = status
        self.code = code
        self.details = details
    }

    /// A context that cannot be used.
    init(_ fault: InputFault) {
        details = fault.detail
        code =
            switch fault.code {
            case .malformed: "PARSE_ERROR"
            case .missingField: "TARGETING_KEY_MISSING"
            default: "INVALID_CONTEXT"
            }
    }

    func answer(key: String?) -> Answer {
        var members = [
            JSONMember("errorCode", .string(code)), JSONMember("errorDetails", .string(details)),
        ]
        if let key { members.insert(JSONMember("key", .string(key)), at: 0) }
        return Answer(status: status, .object(members))
    }
}
