import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// Feature access as feature flags: the OpenFeature Remote Evaluation Protocol 0.3.0
/// (open-feature/protocol), so that existing SDKs are clients (Z8).
///
/// A flag is a feature; its value is whether the customer (`targetingKey`) may use it. The world is
/// the context's `environment`, default production.
extension RouteTable {
    static let flagRoutes = [
        Route(
            method: .post,
            template: "/ofrep/v1/evaluate/flags/{key}",
            operation: "evaluateFlag",
            summary: "One feature as a flag (OpenFeature remote evaluation).",
            access: .anyCustomer([.read]),
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
                ),
            ],
            body: Route.Body(shape: .named("EvaluationContext"), byteLimit: smallBodyLimit),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Every flag, by key",
                    shape: .object([
                        Shape.Member("flags", .list(.named("Flag"))),
                        Shape.Member("metadata", .map(.either([.boolean, .text, .integer]))),
                    ])
                ),
                Route.Reply(status: 304, text: "As the caller has it already", shape: nil),
                failure(400, "The context cannot be used"),
            ],
            handler: evaluateAll
        ),
    ]

    private static func failure(_ status: Int, _ text: String) -> Route.Reply {
        Route.Reply(status: status, text: text, shape: .named("FlagFailure"))
    }

    @Sendable
    private static func evaluateOne(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let key = call.path["key"] ?? ""
        do throws(FlagFailure) {
            let subject = try EvaluationSubject(call)
            let access = try await subject.access(call, service)
            guard let feature = access.features?[key] else {
                throw FlagFailure(404, "FLAG_NOT_FOUND", "the catalog has no such feature")
            }
            return Answer(flag(key, feature, access))
        } catch {
            return try error.answer(key: key)
        }
    }

    @Sendable
    private static func evaluateAll(_ call: Call, _ service: LedgerService) async throws -> Answer {
        do throws(FlagFailure) {
            let subject = try EvaluationSubject(call)
            let access = try await subject.access(call, service)
            let flags = (access.features ?? [:]).sorted { $0.key < $1.key }
                .map { flag($0.key.text, $0.value, access) }
            let json = JSONValue.members([
                "flags": .array(flags), "metadata": .object([]),
            ])
            var answer = Answer(json)
            answer.caching = .until(
                access.validUntil,
                digest: ContentDigest.text(of: answer.body)
            )
            return answer
        } catch {
            return try error.answer(key: nil)
        }
    }

    /// All members are always there: the reference provider reads them without asking.
    private static func flag(
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
    var customer: String
    var environment: StoreEnvironment

    init(_ call: Call) throws(FlagFailure) {
        let body: JSONValue
        do throws(Problem) { body = try call.json() } catch {
            throw FlagFailure(400, "PARSE_ERROR", error.detail ?? "not JSON")
        }
        guard let context = body["context"], case .object = context else {
            throw FlagFailure(400, "INVALID_CONTEXT", "expected a context object")
        }
        guard let key = context["targetingKey"] else {
            throw FlagFailure(400, "TARGETING_KEY_MISSING", "the targetingKey is the customer's id")
        }
        guard let customer = key.string, Identifier.isValid(customer) else {
            throw FlagFailure(400, "INVALID_CONTEXT", "the targetingKey is not an id")
        }
        var environment = StoreEnvironment.production
        if let given = context["environment"] {
            guard let named = given.string.flatMap({ StoreEnvironment(name: $0) }) else {
                throw FlagFailure(
                    400,
                    "INVALID_CONTEXT",
                    "environment is production, sandbox or local"
                )
            }
            environment = named
        }
        // Row 9.4: a customer reaches themselves only; the same answer whoever else it is.
        if case .customer = call.caller, !call.caller.isCustomer(customer) {
            throw FlagFailure(Problem(.notFound))
        }
        self.customer = customer
        self.environment = environment
    }

    func access(
        _ call: Call,
        _ service: LedgerService
    ) async throws(FlagFailure) -> CachedAccess {
        do {
            return try await service.access(customer, environment, at: call.now)
        } catch {
            throw FlagFailure(Problem(anyError: error))
        }
    }
}

/// Why a flag is not evaluated, in the protocol's words; or a problem of another kind.
private struct FlagFailure: Error {
    var status: Int
    var code: String
    var details: String
    var problem: Problem?

    init(_ status: Int, _ code: String, _ details: String) {
        self.status = status
        self.code = code
        self.details = details
    }

    init(_ problem: Problem) {
        self.init(problem.code.status, "GENERAL", problem.detail ?? problem.code.title)
        self.problem = problem
    }

    func answer(key: String?) throws -> Answer {
        if let problem { throw problem }
        var members = [
            JSONMember("errorCode", .string(code)), JSONMember("errorDetails", .string(details)),
        ]
        if let key { members.insert(JSONMember("key", .string(key)), at: 0) }
        return Answer(status: status, .object(members))
    }
}
