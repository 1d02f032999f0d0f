import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer

/// The command `entitle transfer`.
struct Transfer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Makes a customer the owner of a purchase, whatever the catalog's policy.",
        discussion: HelpText.discussion(
            """
            It counts from now on; what its owner until then used it for stays as it was. Renewals \
            that name the old owner do not take it back.
            """,
            examples: "entitle transfer app_store/2000000123456789 --to bob --reason ticket-12"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @OptionGroup var why: OwnerReasonOptions
    @Argument(help: "STORE/ORIGINAL_ID.") var purchase: String
    @Option(help: "The customer who is to own it.") var to: String

    func run() throws {
        let request = try requested.request(options)
        let customer = try CustomerArgument.checked(to)
        let (purchase, reason) = try (PurchaseArgument.checked(purchase), why.checked())
        let asked = AskedRequest(
            .post,
            ["purchases", purchase.description, "transfer"],
            [JSONMember("to", .string(customer.text)), JSONMember("reason", .string(reason))],
            request
        ) { _ in "transferred" }
        try requested.record(request, about: customer, options, asking: asked) { ledger in
            Recorded(
                try ledger.appender.transfer(purchase, to: customer, reason: reason, request),
                done: "transferred"
            )
        }
    }
}

/// The command `entitle release`.
struct Release: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Takes a purchase from its owner, so that nobody owns it.",
        discussion: HelpText.discussion(
            "Whoever claims or restores it next owns it then.",
            examples: "entitle release app_store/2000000123456789 --reason ticket-13"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @OptionGroup var why: OwnerReasonOptions
    @Argument(help: "STORE/ORIGINAL_ID.") var purchase: String

    func run() throws {
        let request = try requested.request(options)
        let (purchase, reason) = try (PurchaseArgument.checked(purchase), why.checked())
        let asked = AskedRequest(
            .post,
            ["purchases", purchase.description, "release"],
            [JSONMember("reason", .string(reason))],
            request
        ) { _ in "released" }
        try requested.record(request, about: nil, options, asking: asked) { ledger in
            Recorded(
                try ledger.appender.release(purchase, reason: reason, request),
                done: "released"
            )
        }
    }
}

/// Why support changes who owns a purchase.
struct OwnerReasonOptions: ParsableArguments {
    @Option(help: "Why; no ids.") var reason: String

    func checked() throws -> String {
        guard (1...FieldShape.textByteLimit).contains(reason.utf8.count) else {
            throw OperationFault(
                .usage,
                "a reason has 1 to \(FieldShape.textByteLimit) bytes",
                place: "--reason"
            )
        }
        return reason
    }
}

extension Recorded {
    /// Who runs the command is support, and is told whose the purchase was (Stores, rule 7).
    fileprivate init(_ outcome: OwnerOutcome, done: String) {
        self.init(receipt: outcome.receipt, done: done, customer: outcome.formerOwner) {
            $0.formerOwner = outcome.formerOwner?.text
        }
    }
}
