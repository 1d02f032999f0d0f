import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer

/// The command `entitle grant`.
struct Grant: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Gives features or a tier by hand.",
        discussion: HelpText.discussion(
            examples:
                "entitle grant alice --feature export --until +30d --reason goodwill --dry-run"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @Argument(help: "A customer id.") var customer: String
    @Option(help: "The grant's id; the same again restates it (default: --id).")
    var grantId: String?
    @Option(name: [.customLong("feature")], help: "A feature; may be repeated.")
    var features: [String] = []
    @Option(help: "A tier.") var tier: String?
    @Option(
        name: [.customLong("until"), .customLong("expires")],
        parsing: .unconditional,
        help: "The end: an instant, or +30d (default: without end)."
    )
    var expires: String?
    @Option(help: "Why; no ids.") var reason: String?

    func run() throws {
        guard !features.isEmpty || tier != nil else {
            throw OperationFault(
                .usage,
                "a grant gives something",
                hint: "--feature ID or --tier NAME"
            )
        }
        let request = try requested.request(options)
        let grantID = grantId ?? request.id
        let expiresAt = try expires.map { try InstantArgument.parse($0, place: "--until") }
        let customer = try CustomerArgument.checked(customer)
        let asked = AskedRequest(
            .post,
            ["customers", customer.text, "grants"],
            [
                JSONMember("grantId", .string(grantID)),
                features.isEmpty ? nil : JSONMember("features", .strings(features)),
                tier.map { JSONMember("tier", .string($0)) },
                expiresAt.map { JSONMember("expiresAt", .instant($0)) },
                reason.map { JSONMember("reason", .string($0)) },
            ],
            request
        ) { _ in "granted \(grantID)" }
        try requested.record(request, about: customer, options, asking: asked) { ledger in
            // Before: what was given is acknowledged, whatever cannot be read of the catalogs.
            try warn(ledger)
            return Recorded(
                receipt: try ledger.appender.grant(
                    grantID,
                    to: customer,
                    features: features,
                    tier: tier,
                    expiresAt: expiresAt,
                    reason: reason,
                    request
                ),
                done: "granted \(grantID)"
            ) { $0.grantID = grantID }
        }
    }

    /// A name that no catalog lists gives nothing until one does: mostly it is misspelt.
    private func warn(_ ledger: Ledger) throws {
        let catalogs = try ledger.questions.catalogHistory(size: ledger.questions.size())
        for feature in features {
            Self.warn("feature", feature, listed: catalogs.featureIDs)
        }
        if let tier { Self.warn("tier", tier, listed: catalogs.tiers) }
    }

    private static func warn(_ what: String, _ name: String, listed: Set<Name>) {
        guard !listed.isEmpty, !listed.contains(Name(name)) else { return }
        let near = NearNames.near(name, among: listed.texts)
        Terminal.warn(
            "no catalog lists the \(what) \(name), so that nothing is opened yet"
                + (near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?")
        )
    }
}

/// The command `entitle withdraw`.
struct Withdraw: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Ends a grant.",
        discussion: HelpText.discussion(examples: "entitle withdraw alice GRANT")
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "The grant's id.") var grantId: String

    func run() throws {
        let request = try requested.request(options)
        let customer = try CustomerArgument.checked(customer)
        let asked = AskedRequest(
            .delete,
            ["customers", customer.text, "grants", grantId],
            [],
            request
        ) { _ in "withdrawn" }
        try requested.record(request, about: customer, options, asking: asked) { ledger in
            Recorded(
                receipt: try ledger.appender.withdraw(grantId, from: customer, request),
                done: "withdrawn"
            ) { $0.grantID = grantId }
        }
    }
}

/// The command `entitle trial`.
struct Trial: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trial",
        abstract: "Starts a trial, once for each customer.",
        discussion: HelpText.discussion(examples: "entitle trial alice two-weeks")
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "The catalog's trial id.") var trialId: String

    func run() throws {
        let request = try requested.request(options, source: Source.app)
        let customer = try CustomerArgument.checked(customer)
        let asked = AskedRequest(
            .post,
            ["customers", customer.text, "trials"],
            [JSONMember("trialId", .string(trialId))],
            request
        ) { _ in "the trial has begun" }
        try requested.record(request, about: customer, options, asking: asked) { ledger in
            Recorded(
                receipt: try ledger.appender.startTrial(trialId, for: customer, request),
                done: "the trial has begun"
            )
        }
    }
}

/// The command `entitle link`.
struct LinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Makes another id a name of a customer.",
        discussion: HelpText.discussion(examples: "entitle link alice alice@device")
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @Argument(help: "The customer who keeps their id.") var customer: String
    @Argument(help: "The other id.") var alias: String

    func run() throws {
        let request = try requested.request(options)
        let (customer, alias) = try (
            CustomerArgument.checked(customer), CustomerArgument.checked(alias)
        )
        let asked = AskedRequest(
            .post,
            ["customers", customer.text, "links"],
            [JSONMember("alias", .string(alias.text))],
            request
        ) { _ in "linked" }
        try requested.record(request, about: customer, options, asking: asked) { ledger in
            Recorded(
                receipt: try ledger.appender.link(alias, to: customer, request),
                done: "linked"
            )
        }
    }
}

/// The command `entitle use`.
struct Use: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Checks and records a limited use in one step: exit 1 over the limit.",
        discussion: HelpText.discussion(examples: "entitle use alice export --id 4711")
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "A feature id; not with --undo.") var feature: String?
    @Option(help: "How much; in seconds it is a lease.") var amount: Int64?
    @Option(help: "The unit, such as seconds.") var unit: String?
    @Option(help: "Takes the use of this id back.") var undo: String?

    func run() throws {
        let request = try requested.request(options, source: Source.app)
        let customer = try CustomerArgument.checked(customer)
        if let amount, amount < 0 {
            throw OperationFault(.usage, "an amount is not negative", place: "--amount")
        }
        if let undo {
            let asked = AskedRequest(
                .post,
                ["customers", customer.text, "usage"],
                [JSONMember("undo", .string(undo))],
                request
            ) { _ in "taken back" }
            return try requested.record(request, about: customer, options, asking: asked) {
                ledger in
                Recorded(
                    receipt: try ledger.appender.reverseUse(undo, of: customer, request),
                    done: "taken back"
                ) { $0.useID = undo }
            }
        }
        guard let feature else {
            throw OperationFault(.usage, "FEATURE or --undo is missing")
        }
        let asked = AskedRequest(
            .post,
            ["customers", customer.text, "usage"],
            [
                JSONMember("featureId", .string(feature)),
                amount.map { JSONMember("amount", .integer($0)) },
                unit.map { JSONMember("unit", .string($0)) },
            ],
            request
        ) { Self.text($0.use) }
        try requested.record(request, about: customer, options, asking: asked) { ledger in
            let outcome = try ledger.appender.use(
                feature,
                by: customer,
                amount: amount,
                unit: unit,
                request
            )
            let use = ReceiptAnswer.Use(outcome)
            return Recorded(receipt: outcome.receipt, done: Self.text(use)) {
                $0.useID = request.id
                $0.use = use
            }
        }
    }

    private static func text(_ use: ReceiptAnswer.Use?) -> String {
        let lease = use?.endsAt.map { " until \($0)" } ?? ""
        let left = use?.limit?.remaining.map { ", \($0) left" } ?? ""
        return "used\(lease)\(left)"
    }
}
