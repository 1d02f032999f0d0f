import Encodings
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer

extension WebhookCommand {
    /// Asks a server about a webhook, and says as a command does where there is none.
    static func asking<Answer>(_ body: () throws -> Answer) throws -> Answer {
        do {
            return try body()
        } catch let fault as OperationFault
            where fault.code.rawValue == ProblemCode.notFound.rawValue
        {
            throw unknown
        }
    }
}

extension ServerCall {
    /// A call about a webhook, at a path behind its own.
    static func webhook(
        _ id: String,
        _ method: Method,
        _ path: String...,
        query: [(name: String, value: String)] = [],
        body: JSONValue? = nil
    ) -> ServerCall {
        .change(method, ["v1", "webhooks", id] + path, query, body)
    }
}

extension ServerClient {
    /// Adds somebody who is told, and says them with their secret.
    func add(_ wish: Webhooks.Wish) throws -> Webhook {
        guard !wish.mayBePrivate else {
            throw OperationFault(
                .usage,
                "a server sends to networks of its own only where it is set so",
                place: "--private-address",
                hint: "set ENTITLE_PRIVATE_WEBHOOKS of the server"
            )
        }
        let body = JSONValue.members([
            "url": .string(wish.url), "types": .strings(wish.types),
            "environments": .strings(wish.environments.map(\.name)),
            "catalogChanges": .bool(wish.tellsCatalogChanges),
        ])
        do {
            return try answer(.change(.post, ["v1", "webhooks"], [], body), as: Webhook.self)
        } catch let fault as OperationFault where fault.code.status == .badInput {
            throw OperationFault(.usage, fault.message, place: fault.place)
        }
    }
}
