import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// Who is told of what happens, by requests to an address of theirs (row Z19): what the command does too.
extension RouteTable {
    static let webhookRoutes = [
        Route(
            method: .post,
            template: "/v1/webhooks",
            operation: "addWebhook",
            summary: "Tells somebody of what happens from now on; shows their secret, this once.",
            access: .keys([.admin]),
            body: Route.Body(
                shape: .object(
                    [Shape.Member("url", .text)],
                    optional: [
                        Shape.Member("types", .list(.text)),
                        Shape.Member("environments", .list(environmentParameter.shape)),
                        Shape.Member("catalogChanges", .boolean),
                    ],
                    isClosed: true
                ),
                byteLimit: smallBodyLimit
            ),
            answers: [webhookReply(201, "With its secret, this once")],
            problems: [.conflict, .readOnly, .tooLarge, .storageFull],
            handler: add
        ),
        Route(
            method: .get,
            template: "/v1/webhooks",
            operation: "listWebhooks",
            summary: "All who are told, and what waits for them.",
            access: .keys([.admin]),
            answers: [
                Route.Reply(status: 200, text: "Webhooks", shape: .described(WebhooksAnswer.self))
            ],
            problems: [.readOnly],
            handler: { _, service in
                try await Answer(WebhooksAnswer(webhooks: webhooks(service) { try $0.all() }))
            }
        ),
        Route(
            method: .get,
            template: template,
            operation: "readWebhook",
            summary: "One who is told, and what waits for them.",
            access: .keys([.admin]),
            answers: [webhookReply()],
            problems: readProblems,
            handler: { call, service in
                try await one(call, service) { try $0.webhook($1) }
            }
        ),
        Route(
            method: .delete,
            template: template,
            operation: "removeWebhook",
            summary: "Tells one nothing any more, and forgets what waits for them.",
            access: .keys([.admin]),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "It is gone",
                    shape: .object([Shape.Member("id", .text)])
                )
            ],
            problems: changeProblems,
            handler: remove
        ),
        Route(
            method: .post,
            template: template + "/test",
            operation: "testWebhook",
            summary: "Sends one a message that tells of nothing, and says what they answered.",
            access: .keys([.admin]),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What became of it",
                    shape: .described(WebhookTestAnswer.self)
                )
            ],
            problems: readProblems,
            handler: test
        ),
        Route(
            method: .post,
            template: template + "/disable",
            operation: "disableWebhook",
            summary: "Tells one nothing until it is enabled; what happens meanwhile waits.",
            access: .keys([.admin]),
            answers: [webhookReply()],
            problems: changeProblems,
            handler: { call, service in
                try await change(call, service) { try $0.disable($1, because: .asked) }
            }
        ),
        Route(
            method: .post,
            template: template + "/enable",
            operation: "enableWebhook",
            summary: "Tells one again, of what happened meanwhile too.",
            access: .keys([.admin]),
            answers: [webhookReply()],
            problems: changeProblems,
            handler: { call, service in try await change(call, service) { try $0.enable($1) } }
        ),
        Route(
            method: .post,
            template: template + "/secrets",
            operation: "rotateWebhookSecret",
            summary: "Makes a new secret, shown this once; the one before signs too for a day.",
            access: .keys([.admin]),
            answers: [webhookReply(200, "With its new secret")],
            problems: changeProblems,
            handler: { call, service in
                try await change(call, service) { try $0.rotateSecret(of: $1, at: call.now) }
            }
        ),
        Route(
            method: .get,
            template: template + "/deliveries",
            operation: "listWebhookDeliveries",
            summary: "Deliveries that were not taken, a hundred at most.",
            access: .keys([.admin]),
            parameters: [
                Route.Parameter(
                    name: "state",
                    text: "Those that are tried again (default), or are not",
                    shape: .choice(WebhookDelivery.State.allCases.map(\.rawValue))
                )
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Deliveries",
                    shape: .described(WebhookDeliveriesAnswer.self)
                )
            ],
            problems: readProblems + [.invalidValue],
            handler: deliveries
        ),
        Route(
            method: .post,
            template: template + "/deliveries/resend",
            operation: "resendWebhookDeliveries",
            summary: "Delivers once more: messages by their ids, or a range of numbers.",
            access: .keys([.admin]),
            body: Route.Body(
                shape: .either([
                    .object([Shape.Member("ids", .list(.text))], isClosed: true),
                    .object(
                        [Shape.Member("from", .integer), Shape.Member("to", .integer)],
                        isClosed: true
                    ),
                ]),
                byteLimit: smallBodyLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What is delivered once more",
                    shape: .described(WebhookResendAnswer.self)
                )
            ],
            problems: changeProblems + [.tooLarge],
            handler: resend
        ),
    ]

    private static let template = "/v1/webhooks/{webhook}"
    private static let readProblems: [ProblemCode] = [.notFound, .readOnly]
    private static let changeProblems = readProblems + [.storageFull]
    /// Deliveries of one answer.
    private static let deliveryLimit = 100
    /// Ids of messages that one call names.
    private static let messageLimit = 100

    private static func webhookReply(
        _ status: Int = 200,
        _ text: String = "As it stands"
    ) -> Route.Reply {
        Route.Reply(status: status, text: text, shape: .described(Webhook.self))
    }

    /// `changes`: whether it is done by who leads alone, and known to whoever leads next.
    private static func webhooks<Result: Sendable>(
        _ service: LedgerService,
        changes: Bool = false,
        _ body: @escaping @Sendable (Webhooks) throws -> Result
    ) async throws -> Result {
        guard let webhooks = service.webhooks else {
            throw Problem(.readOnly, "webhooks are told by the server that writes to the ledger")
        }
        return try await service.blocking {
            try changes ? webhooks.changing { try body(webhooks) } : body(webhooks)
        }
    }

    /// What is made of the webhook that the path names.
    static func found<Result: Sendable>(
        _ call: Call,
        _ service: LedgerService,
        changes: Bool = false,
        _ body: @escaping @Sendable (Webhooks, _ id: String) throws -> Result?
    ) async throws -> Result {
        let id = call.path[.webhook] ?? ""
        guard let result = try await webhooks(service, changes: changes, { try body($0, id) })
        else {
            throw Problem(.notFound, "there is no such webhook")
        }
        return result
    }

    private static func one(
        _ call: Call,
        _ service: LedgerService,
        _ body: @escaping @Sendable (Webhooks, _ id: String) throws -> Webhook?
    ) async throws -> Answer {
        Answer(try await found(call, service, body))
    }

    private static func change(
        _ call: Call,
        _ service: LedgerService,
        _ body: @escaping @Sendable (Webhooks, _ id: String) throws -> Webhook?
    ) async throws -> Answer {
        try requireWriting(service)
        return Answer(try await found(call, service, changes: true, body))
    }

    static func requireWriting(_ service: LedgerService) throws(Problem) {
        guard !service.ledger.isReadOnly else { throw Problem(.readOnly) }
    }

    @Sendable
    private static func add(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try requireWriting(service)
        let body = try call.object("url", "types", "environments", "catalogChanges")
        var wish = Webhooks.Wish(url: try body.required("url"))
        wish.types = try body.texts("types")
        wish.environments = try body.texts("environments").map { name throws(Problem) in
            guard let environment = StoreEnvironment(name: name) else {
                throw Problem(
                    .invalidValue,
                    "expected production, sandbox or local",
                    path: "environments"
                )
            }
            return environment
        }
        if let flag = body["catalogChanges"] {
            guard let flag = flag.bool else {
                throw Problem(.invalidValue, "expected true or false", path: "catalogChanges")
            }
            wish.tellsCatalogChanges = flag
        }
        wish.mayBePrivate = service.sendsToPrivateNetworks
        let webhook = try await webhooks(service, changes: true) { [wish] webhooks in
            var randomness = RandomSource.system
            do {
                return try webhooks.add(wish, at: call.now, using: &randomness)
            } catch let fault as InputFault {
                throw Problem(fault)
            }
        }
        guard let webhook else {
            throw Problem(.conflict, "there are \(Webhooks.countLimit) webhooks already")
        }
        var answer = Answer(status: 201, webhook)
        answer.headers[.location] = "/v1/webhooks/" + webhook.id
        return answer
    }

    @Sendable
    private static func remove(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try requireWriting(service)
        return try await found(call, service, changes: true) { webhooks, id in
            try webhooks.remove(id) ? Answer(.members(["id": .string(id)])) : nil
        }
    }

    @Sendable
    private static func test(_ call: Call, _ service: LedgerService) async throws -> Answer {
        Answer(try await trial(call, service))
    }

    /// Sends one a message that tells of nothing.
    static func trial(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> WebhookTestAnswer {
        let (webhook, secrets) = try await found(call, service) { webhooks, id in
            try webhooks.webhook(id).map { ($0, try webhooks.secrets(of: $0, at: call.now)) }
        }
        let message = WebhookMessage(
            trying: "msg_" + call.requestID.filter { $0 != "." },
            of: service.ledger.identity,
            at: call.now
        )
        let trial = WebhookTrial(webhook: webhook, secrets: secrets, pool: service)
        return try await trial.answer(sending: message, at: call.now)
    }

    @Sendable
    private static func deliveries(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let name = call.query[.state] ?? WebhookDelivery.State.waiting.rawValue
        guard let state = WebhookDelivery.State(rawValue: name) else {
            throw Problem(.invalidValue, "expected waiting or dead", path: "state")
        }
        let deliveries = try await found(call, service) { webhooks, id in
            try webhooks.deliveries(of: id, state, limit: deliveryLimit)
        }
        return Answer(WebhookDeliveriesAnswer(deliveries: deliveries))
    }

    @Sendable
    private static func resend(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try requireWriting(service)
        let body = try call.object("ids", "from", "to")
        if body["ids"] != nil {
            let ids = try body.texts("ids")
            guard (1...messageLimit).contains(ids.count), body["from"] == nil, body["to"] == nil
            else {
                throw Problem(
                    .invalidValue,
                    "expected 1 to \(messageLimit) ids, and no range",
                    path: "ids"
                )
            }
            return Answer(
                try await found(call, service, changes: true) {
                    try $0.resend(to: $1, messages: Set(texts: ids))
                }
            )
        }
        let (from, to) = (try body.number("from"), try body.number("to"))
        guard from <= to else { throw Problem(.outOfRange, "expected from <= to", path: "to") }
        return Answer(
            try await found(call, service, changes: true) { try $0.resend(to: $1, from..<to) }
        )
    }
}

extension JSONValue {
    /// A member that is a list of texts; empty where there is none.
    fileprivate func texts(_ name: String) throws(Problem) -> [String] {
        guard let value = self[name] else { return [] }
        guard let texts = value.array?.compactMap(\.string), texts.count == value.array?.count
        else {
            throw Problem(.invalidValue, "expected a list of texts", path: name)
        }
        return texts
    }

    /// A member that is a number of a notice.
    fileprivate func number(_ name: String) throws(Problem) -> UInt64 {
        guard let value = self[name] else { throw Problem(.missingField, "required", path: name) }
        guard let number = value.integer, number >= 0 else {
            throw Problem(.invalidValue, "expected a number of a delivery", path: name)
        }
        return UInt64(number)
    }
}
