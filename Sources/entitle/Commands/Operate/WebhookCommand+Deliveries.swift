import ArgumentParser
import Encodings
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer

extension WebhookCommand {
    /// The command `entitle webhooks deliveries`.
    struct Deliveries: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "deliveries",
            abstract: "Lists deliveries that were not taken.",
            discussion: HelpText.discussion(
                examples: "entitle webhooks deliveries WEBHOOK --state dead"
            )
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: HelpText.webhook) var webhook: String
        @Option(help: "waiting (default): tried again; or dead: not tried any more.")
        var state = WebhookDelivery.State.waiting.rawValue
        @Option(help: "At most so many.") var limit = 100

        func run() throws {
            guard let state = WebhookDelivery.State(rawValue: state) else {
                throw OperationFault(
                    .usage,
                    "no such state",
                    place: "--state",
                    hint: "waiting or dead"
                )
            }
            guard limit > 0 else {
                throw OperationFault(.usage, "expected a number above 0", place: "--limit")
            }
            let (id, limit) = (webhook, limit)
            if let client = try server.telling(options) {
                let call = ServerCall.webhook(
                    id,
                    .get,
                    "deliveries",
                    query: [("state", state.rawValue)]
                )
                let answer = try WebhookCommand.asking {
                    try client.answer(call, as: WebhookDeliveriesAnswer.self)
                }
                // A server lists a hundred.
                return show(Array(answer.deliveries.prefix(limit)))
            }
            guard
                let found = try options.withWebhooks({
                    try $0.deliveries(of: id, state, limit: limit)
                })
            else { throw WebhookCommand.unknown }
            show(found)
        }

        private func show(_ found: [WebhookDelivery]) {
            Terminal.tell(
                AnswerText(WebhookDeliveriesAnswer(deliveries: found)),
                or: found.map(\.line),
                asJSON: options.json
            )
        }
    }

    /// The command `entitle webhooks resend`.
    struct Resend: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resend",
            abstract: "Delivers once more: messages by their ids, or a range of numbers.",
            discussion: HelpText.discussion(
                """
                A message has the id that it had. It is marked, for it may come behind what happened later. \
                Of a range a thousand numbers are looked at; what is left is said.
                """,
                examples: "entitle webhooks resend WEBHOOK msg_0123456789abcdef0123456789abcdef",
                "entitle webhooks resend WEBHOOK --from 120 --to 180"
            )
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: HelpText.webhook) var webhook: String
        @Argument(help: "Ids of messages.") var messages: [String] = []
        @Option(help: "From this number on.") var from: UInt64?
        @Option(help: "Up to this number, exclusive.") var to: UInt64?

        func run() throws {
            guard messages.isEmpty != (from == nil && to == nil) else {
                throw OperationFault(
                    .usage,
                    "give ids of messages, or a range",
                    hint: "entitle webhooks resend WEBHOOK --from 120 --to 180"
                )
            }
            let (id, messages) = (webhook, Set(texts: messages))
            let range = (from ?? 0)..<max(from ?? 0, to ?? .max)
            if let client = try server.telling(options) {
                let body: JSONValue =
                    messages.isEmpty
                    ? .members([
                        "from": .integer(range.lowerBound), "to": .integer(Self.end(range)),
                    ])
                    : .members(["ids": .strings(messages.texts)])
                let call = ServerCall.webhook(id, .post, "deliveries", "resend", body: body)
                return show(
                    try WebhookCommand.asking {
                        try client.answer(call, as: WebhookResendAnswer.self)
                    }
                )
            }
            let answer = try options.withWebhooks { webhooks in
                messages.isEmpty
                    ? try webhooks.resend(to: id, range)
                    : try webhooks.resend(to: id, messages: messages)
            }
            guard let answer else { throw WebhookCommand.unknown }
            show(answer)
        }

        /// Numbers in JSON of HTTP have 63 bits.
        private static func end(_ range: Range<UInt64>) -> UInt64 {
            min(range.upperBound, UInt64(Int64.max))
        }

        private func show(_ answer: WebhookResendAnswer) {
            let rest = answer.next.map { ["go on with --from \($0)"] } ?? []
            Terminal.tell(
                AnswerText(answer),
                or: ["\(answer.resent) are delivered once more"] + rest,
                asJSON: options.json
            )
        }
    }
}

extension WebhookDelivery {
    fileprivate var line: String {
        let words: [String?] = [
            String(number), id ?? "-", type ?? "-", state.rawValue,
            attempts == 1 ? "1 attempt" : "\(attempts) attempts",
            status.map { "answered \($0)" } ?? fault?.rawValue,
            nextAttemptAt.map { "next \($0)" },
        ]
        return words.compactMap(\.self).joined(separator: "  ")
    }
}
