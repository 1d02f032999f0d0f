import ArgumentParser
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
        abstract: "Asks the App Store to move a subscription's renewal date.",
        discussion: HelpText.discussion(
            """
            To make good for an outage, say: at most 90 days, and twice a year. What the App Store signs of \
            it is fetched and recorded.
            """,
            examples: "entitle extend app_store/2000000123456789 --days 7 --because outage"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var stores: StoresOptions
    @Argument(help: "app_store/ORIGINAL_ID.") var purchase: String
    @Option(help: "1 to 90.") var days: Int
    @Option(help: "outage, satisfaction, other or undeclared.") var because = "undeclared"
    @Option(help: "The request's id: the same again is asked once (default: a new one).")
    var id: String?

    private static let dayRange = 1...90

    func run() throws {
        let purchase = try PurchaseArgument.checked(purchase)
        guard purchase.store == Source.appStore else {
            throw OperationFault(.usage, "only the App Store moves a renewal date")
        }
        guard Self.dayRange.contains(days) else {
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
        let clients = try stores.clients(options)
        guard let appStore = clients.appStore else { throw StoresOptions.notConfigured(options) }
        let environment = try options.environment()
        let id = id ?? UUID().uuidString.lowercased()
        let (days, originalID) = (days, purchase.originalID)
        let answer = try options.withLedger(writing: true) { ledger in
            try Blocking.value {
                let end = try await appStore.api.extend(
                    originalID,
                    byDays: days,
                    because: reason,
                    id: id,
                    in: environment
                )
                let sync = StoreSync(
                    ledger,
                    clients,
                    pool: DispatchPool(),
                    clock: SystemClock.now,
                    makeID: { UUID().uuidString.lowercased() }
                )
                let synced = end == nil ? [] : try await sync.sync([purchase], in: environment)
                return ExtensionAnswer(id: id, endsAt: end, purchases: synced)
            }
        }
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if answer.endsAt == nil { throw ExitCode(.no) }
    }
}

/// The command `entitle consumption`.
struct Consumption: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tells the App Store what was made of a purchase whose money is asked back.",
        discussion: HelpText.discussion(
            """
            The answer to a CONSUMPTION_REQUEST, within twelve hours. The App Store takes it only where \
            the customer agreed that it is told, which --consented says.
            """,
            examples: "entitle consumption 2000000123456789 --consented --delivery delivered "
                + "--percentage 40 --preference grant_prorated"
        )
    )

    @OptionGroup var options: LedgerOptions
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
        guard let appStore = try stores.clients(options).appStore else {
            throw StoresOptions.notConfigured(options)
        }
        let (transaction, environment) = (transaction, try options.environment())
        try Blocking.value {
            try await appStore.api.send(consumption, of: transaction, in: environment)
        }
        Terminal.note("told")
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
