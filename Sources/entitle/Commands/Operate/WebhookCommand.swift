import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer

/// The command `entitle webhooks`.
struct WebhookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Who is told of what happens, by requests to an address of theirs.",
        discussion: """
            Messages are CloudEvents, signed as Standard Webhooks are. A running server sends them, and takes \
            a change over within about a second.
            """,
        subcommands: [
            Add.self, List.self, Test.self, Disable.self, Enable.self, Remove.self, Rotate.self,
            Deliveries.self, Resend.self,
        ]
    )

    /// The command `entitle webhooks add`.
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract:
                "Tells somebody of what happens from now on, and shows their secret, this once.",
            discussion: HelpText.discussion(
                examples: "entitle webhooks add https://app.example.com/hooks/entitlements",
                "entitle webhooks add https://app.example.com/hooks --type '*' --of sandbox"
            )
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: "An address, https://HOST/PATH.") var url: String
        @Option(
            name: .customLong("type"),
            help: "A type of events, or * (default: entitlement.changed); may be repeated."
        )
        var types: [String] = []
        @Option(
            name: .customLong("of"),
            help: """
                production, sandbox or local; may be repeated (default: that of --environment).
                """
        )
        var environments: [String] = []
        @Flag(help: "Also changes of access that a catalog makes of everybody.")
        var catalogChanges = false
        @Flag(help: "The address may be one of a network of one's own, and without TLS.")
        var privateAddress = false

        func run() throws {
            var wish = Webhooks.Wish(url: url)
            wish.types = types
            wish.environments = try environments.map { name in
                guard let environment = StoreEnvironment(name: name) else {
                    throw OperationFault(
                        .usage,
                        "no such environment",
                        place: "--of",
                        hint: "production, sandbox or local"
                    )
                }
                return environment
            }
            if wish.environments.isEmpty { wish.environments = [try options.environment()] }
            wish.tellsCatalogChanges = catalogChanges
            wish.mayBePrivate = privateAddress
            if let client = try server.telling(options) {
                return try client.add(wish).show(options)
            }
            let webhook = try options.withWebhooks { [wish] webhooks in
                var randomness = RandomSource.system
                do {
                    return try webhooks.add(wish, at: SystemClock.now(), using: &randomness)
                } catch let fault as InputFault {
                    throw OperationFault(.usage, fault.detail, place: fault.path)
                }
            }
            guard let webhook else {
                throw OperationFault(
                    .tooManyWebhooks,
                    "there are \(Webhooks.countLimit) webhooks already",
                    hint: "remove some: entitle webhooks list, entitle webhooks remove ID"
                )
            }
            webhook.show(options)
        }
    }

    /// The command `entitle webhooks list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Lists who is told, and what waits for them.",
            discussion: HelpText.discussion(examples: "entitle webhooks list")
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions

        func run() throws {
            let all =
                try server.telling(options)?
                .answer(.get(["v1", "webhooks"]), as: WebhooksAnswer.self).webhooks
                ?? options.withWebhooks { try $0.all() }
            Terminal.tell(
                AnswerText(WebhooksAnswer(webhooks: all)),
                or: all.map(\.line),
                asJSON: options.json
            )
        }
    }

    /// The command `entitle webhooks test`.
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Sends one a message that tells of nothing; exit 1 where it is not taken.",
            discussion: HelpText.discussion(examples: "entitle webhooks test WEBHOOK")
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: HelpText.webhook) var webhook: String

        func run() throws {
            if let client = try server.telling(options) {
                let call = ServerCall.webhook(webhook, .post, "test")
                return try show(
                    WebhookCommand.asking { try client.answer(call, as: WebhookTestAnswer.self) }
                )
            }
            let id = webhook
            let now = SystemClock.now()
            let answer = try options.withWebhooks { webhooks in
                guard let webhook = try webhooks.webhook(id) else { throw WebhookCommand.unknown }
                let trial = WebhookTrial(
                    webhook: webhook,
                    secrets: try webhooks.secrets(of: webhook, at: now),
                    pool: DispatchPool()
                )
                let message = WebhookMessage(
                    trying: "msg_" + UUID().uuidString.lowercased(),
                    of: webhooks.ledger.identity,
                    at: now
                )
                return try Blocking.value { try await trial.answer(sending: message, at: now) }
            }
            try show(answer)
        }

        private func show(_ answer: WebhookTestAnswer) throws {
            Terminal.tell(AnswerText(answer), or: [answer.line], asJSON: options.json)
            if !answer.isTaken { throw ExitCode(.no) }
        }
    }

    /// The command `entitle webhooks disable`.
    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Tells one nothing until it is enabled; what happens meanwhile waits.",
            discussion: HelpText.discussion(examples: "entitle webhooks disable WEBHOOK")
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: HelpText.webhook) var webhook: String

        func run() throws {
            try options.changing(webhook, server, by: "disable") {
                try $0.disable($1, because: .asked)
            }
        }
    }

    /// The command `entitle webhooks enable`.
    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Tells one again, of what happened meanwhile too.",
            discussion: HelpText.discussion(examples: "entitle webhooks enable WEBHOOK")
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: HelpText.webhook) var webhook: String

        func run() throws {
            try options.changing(webhook, server, by: "enable") { try $0.enable($1) }
        }
    }

    /// The command `entitle webhooks remove`.
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Tells one nothing any more, and forgets what waits for them.",
            discussion: HelpText.discussion(examples: "entitle webhooks remove WEBHOOK")
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: HelpText.webhook) var webhook: String

        func run() throws {
            let id = webhook
            if let client = try server.telling(options) {
                let call = ServerCall.webhook(id, .delete)
                _ = try WebhookCommand.asking { try client.json(call) }
            } else {
                guard try options.withWebhooks({ try $0.remove(id) }) else {
                    throw WebhookCommand.unknown
                }
            }
            if options.json {
                Terminal.line(.members(["id": .string(id)]))
            } else {
                Terminal.note("removed")
            }
        }
    }

    /// The command `entitle webhooks rotate`.
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract:
                "Makes a new secret and shows it, this once; the one before signs too for a day.",
            discussion: HelpText.discussion(examples: "entitle webhooks rotate WEBHOOK")
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @Argument(help: HelpText.webhook) var webhook: String

        func run() throws {
            try options.changing(webhook, server, by: "secrets") {
                try $0.rotateSecret(of: $1, at: SystemClock.now())
            }
        }
    }

    static let unknown = OperationFault(
        .noSuchWebhook,
        "there is no such webhook",
        hint: "entitle webhooks list"
    )
}

extension HelpText {
    /// What names a webhook.
    static let webhook: ArgumentHelp = "The webhook's id, as `webhooks list` shows it."
}

extension LedgerOptions {
    /// Lends who is told of what happens in the ledger.
    func withWebhooks<Result>(_ body: (Webhooks) throws -> Result) throws -> Result {
        try withLedger(writing: false) { ledger in
            let webhooks = try Webhooks(ofLedgerAt: path, ledger)
            defer { webhooks.close() }
            return try body(webhooks)
        }
    }

    /// Changes a webhook and shows it.
    ///
    /// `server`: one that is named has it done. `name`: the call's last segment there.
    func changing(
        _ id: String,
        _ server: ServerOptions,
        by name: String,
        _ body: (Webhooks, _ id: String) throws -> Webhook?
    ) throws {
        if let client = try server.telling(self) {
            let call = ServerCall.webhook(id, .post, name)
            return try WebhookCommand.asking { try client.answer(call, as: Webhook.self) }
                .show(self)
        }
        guard let webhook = try withWebhooks({ try body($0, id) }) else {
            throw WebhookCommand.unknown
        }
        webhook.show(self)
    }
}

extension Webhook {
    /// Shows it, with its secret where there is one to be shown.
    func show(_ options: LedgerOptions) {
        Terminal.tell(AnswerText(self), or: [secret ?? line], asJSON: options.json)
        guard secret != nil, !options.json else { return }
        Terminal.note("keep it safe: the secret is shown this once; the webhook is \(id)")
    }

    fileprivate var line: String {
        let words: [String?] = [
            id, disabledBecause.map { "disabled (\($0.rawValue))" } ?? state.rawValue,
            types.joined(separator: ","), environments.map(\.name).joined(separator: ","),
            waiting.map { "waiting \($0)" }, dead.map { "dead \($0)" },
            behind.map { "behind \($0)" }, url,
        ]
        return words.compactMap(\.self).joined(separator: "  ")
    }
}

extension WebhookTestAnswer {
    fileprivate var line: String {
        let outcome = status.map { "answered \($0)" } ?? fault?.rawValue ?? "no answer"
        return "\(isTaken ? "taken" : "not taken"): \(outcome) in \(milliseconds) ms"
    }
}
