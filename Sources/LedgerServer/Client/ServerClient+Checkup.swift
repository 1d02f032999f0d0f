import Encodings
import LedgerAPI
package import LedgerOperations

extension ServerClient {
    /// Adds what the server that holds the ledger says of itself, of its jobs and of those whom it tells.
    ///
    /// - Throws: `OperationFault` where it does not answer.
    package func look(for checkup: inout Checkup) async throws {
        for reason in try await reasons() { checkup.addNotReady(reason) }
        let status = try await answer(.get(["v1", "status"]), as: StatusAnswer.self)
        checkup.lookAtJobs(status.jobs ?? [])
        do {
            let webhooks = try await answer(.get(["v1", "webhooks"]), as: WebhooksAnswer.self)
            checkup.lookAtWebhooks(webhooks.webhooks)
        } catch let fault as OperationFault
            where fault.code.rawValue == ProblemCode.notConfigured.rawValue
        {
            // A server that only reads tells nobody.
        }
    }

    /// Why it is not ready; empty: it is.
    private func reasons() async throws -> [String] {
        let reply: ServerReply
        do {
            reply = try await self.reply(to: .get(["readyz"]), within: Self.lookTimeout)
        } catch {
            throw OperationFault(.unreachable, "the server does not answer")
        }
        // One that says nothing but its status is asked by a stranger.
        let json = try? JSONValue(parsing: reply.body)
        return json?["reasons"]?.array?.compactMap(\.string) ?? []
    }

    private func answer<Answer: Described>(
        _ call: ServerCall,
        as _: Answer.Type
    ) async throws -> Answer {
        let bytes = try await answer(to: call)
        // An answer of another version's server may have another shape.
        guard let answer = try? Answer.fields.read(JSONValue(parsing: bytes)) else {
            throw OperationFault(.wrongAnswer, "the server's answer is not what this version reads")
        }
        return answer
    }
}
