import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle extend`.
struct Extend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Asks the App Store to move a subscription's renewal date.",
        discussion: HelpText.discussion(
            """
            To make good for an outage, say: at most 90 days, and twice a year. What the App Store signs of \
            it is fetched and recorded. Where a server holds the ledger, it asks the App Store.
            """,
            examples: "entitle extend app_store/2000000123456789 --days 7 --because outage"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var stores: StoresOptions
    @Argument(help: "app_store/ORIGINAL_ID.") var purchase: String
    @Option(help: "1 to 90.") var days: Int
    @Option(help: "outage, satisfaction, other or undeclared.") var because = "undeclared"
    @Option(help: "The request's id: the same again is asked once (default: a new one).")
    var id: String?

    func run() throws {
        let purchase = try PurchaseArgument.checked(purchase)
        guard purchase.store == Source.appStore else {
            throw OperationFault(.usage, "only the App Store moves a renewal date")
        }
        guard StoreSync.extensionDays.contains(days) else {
            throw OperationFault(.usage, "expected 1 to 90", place: "--days")
        }
        guard let reason = AppStoreExtensionReason(rawValue: because) else {
            throw OperationFault(
                .usage,
                "no such reason",
                place: "--because",
                hint: AppStoreExtensionReason.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        let environment = try options.environment()
        let id = id ?? UUID().uuidString.lowercased()
        if let client = try server.writing(options) {
            let call = ServerCall.change(
                .post,
                ["v1", "purchases", purchase.description, "extend"],
                [("environment", environment.name)],
                .members(["days": .integer(Int64(days)), "because": .string(reason.rawValue)]),
                as: id
            )
            return try show(client.answer(call.untilDone, as: ExtensionAnswer.self))
        }
        let clients = try stores.clients(options)
        guard clients.appStore != nil else { throw StoresOptions.notConfigured(options) }
        let days = days
        let answer = try options.withLedger(writing: true) { ledger in
            try Blocking.value {
                let sync = StoreSync(
                    ledger,
                    clients,
                    pool: DispatchPool(),
                    clock: SystemClock.now,
                    makeID: { UUID().uuidString.lowercased() }
                )
                return try await sync.extend(
                    purchase,
                    byDays: days,
                    because: reason,
                    id: id,
                    in: environment
                )
            }
        }
        guard let answer else { throw StoresOptions.notConfigured(options) }
        try show(answer)
    }

    private func show(_ answer: ExtensionAnswer) throws {
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if answer.endsAt == nil { throw ExitCode(.no) }
    }
}

/// The command `entitle consumption`.
struct Consumption: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumption",
        abstract: "Tells the App Store what was made of a purchase whose money is asked back.",
        discussion: HelpText.discussion(
            """
            The answer to a CONSUMPTION_REQUEST, within twelve hours. The App Store takes it only where \
            the customer agreed that it is told, which --consented says. With --server that server asks \
            the App Store.
            """,
            examples: "entitle consumption 2000000123456789 --consented --delivery delivered "
                + "--percentage 40 --preference grant_prorated"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var stores: StoresOptions
    @Argument(help: "A transaction id of the App Store.") var transaction: String
    @Flag(help: "The customer agreed.") var consented = false
    @Option(help: "delivered, quality_issue, wrong_item, server_outage or other.")
    var delivery = "delivered"
    @Flag(help: "It could be tried before it was bought.") var sampled = false
    @Option(help: "Per cent that was used, 0 to 100; not for subscriptions that renew.")
    var percentage: Int?
    @Option(help: "decline, grant_full or grant_prorated.") var preference: String?

    func run() throws {
        guard consented else {
            throw OperationFault(
                .usage,
                "nothing is told without the customer's consent",
                hint: "--consented says that there is one"
            )
        }
        guard percentage.map({ (0...100).contains($0) }) ?? true else {
            throw OperationFault(.usage, "expected 0 to 100", place: "--percentage")
        }
        let consumption = AppStoreConsumption(
            delivery: try Self.choice(delivery, "--delivery"),
            isSampled: sampled,
            percentage: percentage,
            preference: try preference.map { try Self.choice($0, "--preference") }
        )
        let (transaction, environment) = (transaction, try options.environment())
        if let client = try server.named() {
            let call = ServerCall.change(
                .post,
                ["v1", "app-store", "transactions", transaction, "consumption"],
                [("environment", environment.name)],
                body(of: consumption)
            )
            _ = try client.member("told", of: call.untilDone) { $0.bool == true ? true : nil }
            return tell()
        }
        guard let appStore = try stores.clients(options).appStore else {
            throw StoresOptions.notConfigured(options)
        }
        try Blocking.value {
            try await appStore.api.send(consumption, of: transaction, in: environment)
        }
        tell()
    }

    private func tell() {
        if options.json {
            Terminal.line(.members(["told": .bool(true)]))
        } else {
            Terminal.note("told")
        }
    }

    /// What a server is handed in to tell; `percentage` as it was said.
    private func body(of consumption: AppStoreConsumption) -> JSONValue {
        var members = [
            JSONMember("consented", .bool(true)),
            JSONMember("delivery", .string(consumption.delivery.rawValue)),
            JSONMember("sampled", .bool(consumption.isSampled)),
        ]
        if let percentage {
            members.append(JSONMember("percentage", .integer(Int64(percentage))))
        }
        if let preference = consumption.preference {
            members.append(JSONMember("preference", .string(preference.rawValue)))
        }
        return .object(members)
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String,
        _ place: String
    ) throws -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            throw OperationFault(
                .usage,
                "no such choice",
                place: place,
                hint: Choice.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        return choice
    }
}
