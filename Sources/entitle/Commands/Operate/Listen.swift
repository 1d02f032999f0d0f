import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer

/// The command `entitle listen`.
struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract:
            "Sends what happens from now on to an address on your own machine, while you look on.",
        discussion: HelpText.discussion(
            """
            For who writes a receiver: messages are signed as a webhook's are, by a secret that is shown at \
            the start and counts as long as this runs. Nothing is kept.
            """,
            examples: "entitle listen --forward-to http://localhost:3000/hooks"
        )
    )

    @OptionGroup var options: LedgerOptions
    @Option(help: ArgumentHelp("The address.", valueName: "url")) var forwardTo: String
    @Option(
        name: .customLong("type"),
        help: "A type of events, or * (default: entitlement.changed); may be repeated."
    )
    var types: [String] = []
    @Option(help: "End once so many were taken.") var limit: Int?

    func run() throws {
        Interrupt.catchSignals()
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "entitle-" + UUID().uuidString.lowercased()).path
        // What is left behind stands in the system's temporary directory, and names nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try options.withLedger(writing: false) { ledger in
            let webhooks = try Webhooks(in: folder, ledger)
            defer { webhooks.close() }
            var randomness = RandomSource.system
            let added: Webhook?
            do {
                added = try webhooks.add(wish(), at: SystemClock.now(), using: &randomness)
            } catch let fault as InputFault {
                throw OperationFault(.usage, fault.detail, place: fault.path)
            }
            guard let webhook = added else { return }
            let forwarding = WebhookForwarding(webhook, of: webhooks, clock: SystemClock.now)
            tellStart(webhook)
            let (limit, isJSON) = (limit ?? .max, options.json)
            try Blocking.value {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await forwarding.run(pool: DispatchPool(), limit: limit) {
                            $0.show(asJSON: isJSON)
                        }
                    }
                    group.addTask {
                        while !Interrupt.isRaised {
                            try await Task.sleep(for: .milliseconds(100))
                        }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    private func wish() throws -> Webhooks.Wish {
        var wish = Webhooks.Wish(url: forwardTo)
        wish.types = types
        wish.environments = [try options.environment()]
        wish.tellsCatalogChanges = true
        wish.mayBePrivate = true
        return wish
    }

    private func tellStart(_ webhook: Webhook) {
        guard let secret = webhook.secret else { return }
        if options.json {
            Terminal.line(.members(["event": "listening", "secret": .string(secret)]))
        } else {
            Terminal.note("signing with \(secret); what happens is sent to \(webhook.url)")
        }
    }
}

extension WebhookForwarding.Told {
    fileprivate func show(asJSON isJSON: Bool) {
        if isJSON {
            Terminal.line(
                .members([
                    "id": .string(message.id), "type": .string(type),
                    "status": status.map { .integer($0) } ?? .null,
                    "fault": .optional(fault?.rawValue),
                ])
            )
        } else {
            let outcome = status.map(String.init) ?? fault?.rawValue ?? "-"
            Terminal.line("\(outcome)  \(type)  \(message.id)")
        }
    }
}
