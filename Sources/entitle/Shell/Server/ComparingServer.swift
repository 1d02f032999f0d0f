import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer

/// A server whose ledger a provider's word is held against.
struct ComparingServer: ComparisonPlace {
    let client: ServerClient
    let environment: StoreEnvironment
    let instant: Instant

    func ground(everybody: Bool) throws -> ComparisonGround {
        let call = ServerCall.get(path, query + [("everybody", String(everybody))])
        return try client.answer(call.untilDone, as: ComparisonGround.self)
    }

    func see(_ customers: [KnownElsewhere]) throws -> [SeenCustomer] {
        let question = ComparisonQuestion(customers: customers)
        let call = ServerCall.post(path, query, written: AnswerText(question))
        return try client.read(call.untilDone) { json in
            // What cannot be read is told of, and not why.
            (try? ComparisonView.fields.read(json))?.whole(of: question)
        }
    }

    private var path: [String] { ["v1", "comparison"] }

    private var query: [(name: String, value: String)] {
        [("environment", environment.name), ("at", instant.description)]
    }
}
