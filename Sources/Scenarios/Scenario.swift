import Encodings
package import Entitlements

/// What happens to some customers' purchases, and what they have then, at T and as known at R: a
/// file in `schemas/scenarios`.
package struct Scenario: Sendable {
    /// Lower snake case.
    package var id: String
    /// A sentence.
    package var title: String
    /// The catalog's `policy.claim`: `keep` or `transfer`.
    package var policy: String
    /// What happens, in the order of time.
    package var steps: [ScenarioStep]
    /// What must hold.
    package var expectations: [ScenarioExpectation]
    /// What no store tells, where a week of its messages was lost, though it is asked behind it.
    package var untold: Untold

    /// Sentences about what a store's API does not keep; nil: it keeps everything.
    package struct Untold: Sendable, Hashable {
        /// Of the time before it was asked.
        package var then: String?
        /// For good.
        package var later: String?
        /// Whether tier and features are concerned, too.
        package var isOfAccess = false
    }

    /// When every scenario begins.
    package static let start = Instant(milliseconds: 1_767_225_600_000)

    /// Reads the text of a file.
    ///
    /// - Throws: `InputFault` with the path of what cannot be used.
    package init(parsing bytes: [UInt8]) throws(InputFault) {
        let json: JSONValue
        do throws(JSONFault) {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw InputFault(.invalidValue, "", "\(error.message) at byte \(error.offset)")
        }
        let reader = try ObjectReader(
            json,
            of: ["id", "title", "policy", "store", "steps", "expect", "untold"]
        )
        id = try reader.required("id", "expected lower snake case") {
            $0.string.flatMap { Identifier.isStore($0) ? $0 : nil }
        }
        title = try reader.required("title", "expected a sentence", \.string)
        policy = try reader.text("policy") ?? "keep"
        guard ["keep", "transfer"].contains(policy) else {
            throw reader.fault("policy", "expected keep or transfer")
        }
        let store = try ScenarioStore(reader) ?? .appStore
        steps = []
        for (index, item) in try reader.required("steps", "expected steps", \.array).enumerated() {
            steps.append(try ScenarioStep(item, at: "steps[\(index)]", store))
        }
        expectations = []
        for (index, item) in try reader.required("expect", "expected expectations", \.array)
            .enumerated()
        {
            expectations.append(try ScenarioExpectation(item, at: "expect[\(index)]"))
        }
        untold = Untold()
        if let json = reader.value("untold") {
            let reader = try ObjectReader(json, at: "untold", of: ["then", "later", "access"])
            untold = Untold(
                then: try reader.text("then"),
                later: try reader.text("later"),
                isOfAccess: try reader.flag("access") ?? false
            )
        }
        guard !steps.isEmpty, !expectations.isEmpty else {
            throw reader.fault("steps", "expected one or more, and one or more to expect")
        }
        for index in steps.indices.dropFirst() where steps[index].at < steps[index - 1].at {
            throw reader.fault("steps[\(index)].at", "lies before the step above it")
        }
    }

    /// A day behind the last step.
    var dayAfterLastStep: Instant {
        (steps.last?.at ?? Self.start).advanced(byMilliseconds: Instant.millisecondsPerDay)
    }

    /// The last instant that is spoken of, and a day.
    var end: Instant {
        let last = (steps.map(\.at) + expectations.flatMap { [$0.at, $0.known ?? $0.at] }).max()
        return (last ?? Self.start).advanced(byMilliseconds: Instant.millisecondsPerDay)
    }
}

/// One thing that happens.
package struct ScenarioStep: Sendable, Hashable {
    /// When.
    package var at: Instant
    /// What.
    package var action: Action
    /// Who tells of it.
    package var store: ScenarioStore
    /// The account of the store, from 1 on.
    package var account: Int
    /// Who uses the app, or asks; nil: nobody says.
    package var customer: CustomerID?
    /// What is bought or changed to.
    package var product: String?
    /// A subscription of the account, from 0 on, in the order in which they were bought.
    package var purchase: Int
    /// A transaction of the account, from 0 on, in the order in which they were made.
    package var transaction: Int
    /// Until when grace or an extension lasts.
    package var until: Instant?
    /// How a store's message is named that changes nothing.
    package var type: String?
    /// How many are bought at once, of a product of Google Play.
    package var quantity: Int

    /// What may happen.
    package enum Action: String, CaseIterable, Sendable {
        case buy, resubscribe, renew, fail, expire, cancel, uncancel, upgrade, downgrade, extend
        case refund, note, claim, sandbox, forge, pend, pay, abandon, pause, revoke, transfer
        case endGrace = "end_grace"
        case reverseRefund = "reverse_refund"
        case leaveFamily = "leave_family"
        case handIn = "hand_in"
        case refundPart = "refund_part"
    }

    private static let names: Set<Name> = [
        "at", "do", "account", "customer", "product", "purchase", "transaction", "until", "type",
        "store", "quantity",
    ]

    init(
        _ json: JSONValue,
        at path: String,
        _ usualStore: ScenarioStore
    ) throws(InputFault) {
        let reader = try ObjectReader(json, at: path, of: Self.names)
        at = try reader.required("at", ScenarioTime.form, ScenarioTime.instant)
        action = try reader.required("do", "not known") {
            $0.string.flatMap { Action(rawValue: $0) }
        }
        store = try ScenarioStore(reader) ?? usualStore
        guard store.actions.contains(action) else {
            throw reader.fault("do", "not played by \(store.rawValue)")
        }
        account = try reader.optional("account", "expected 1 to 99") { $0.place(in: 1...99) } ?? 1
        customer = try reader.optional(
            "customer",
            ScenarioCustomers.form,
            ScenarioCustomers.customer
        )
        product = try reader.text("product")
        guard product.map({ ScenarioProducts.product($0) != nil }) ?? true else {
            throw reader.fault("product", "not sold: " + ScenarioProducts.names)
        }
        purchase = try reader.optional("purchase", "expected 0 to 99") { $0.place(in: 0...99) } ?? 0
        transaction =
            try reader.optional("transaction", "expected 0 to 999") { $0.place(in: 0...999) } ?? 0
        until = try reader.optional("until", ScenarioTime.form, ScenarioTime.instant)
        type = try reader.text("type")
        quantity = try reader.optional("quantity", "expected 1 to 99") { $0.place(in: 1...99) } ?? 1
        if [.buy, .pend, .upgrade, .downgrade, .forge].contains(action), product == nil {
            throw reader.fault("product", "required")
        }
        if [.claim, .handIn, .forge, .transfer].contains(action), customer == nil {
            throw reader.fault("customer", "required")
        }
        if action == .extend, until == nil { throw reader.fault("until", "required") }
        if action == .note, type == nil { throw reader.fault("type", "required") }
    }
}

/// What a customer has.
package struct ScenarioExpectation: Sendable, Hashable {
    /// T.
    package var at: Instant
    /// R; nil: everything is known.
    package var known: Instant?
    /// Who.
    package var customer: CustomerID
    /// The tier (K7).
    package var tier: String
    /// The status of the one purchase that is owned (P9); nil: not looked at.
    package var status: String?
    /// Whether the store's API tells it, where its messages were lost.
    package var isFetched: Bool

    init(_ json: JSONValue, at path: String) throws(InputFault) {
        let reader = try ObjectReader(
            json,
            at: path,
            of: ["at", "known", "customer", "tier", "status", "fetched"]
        )
        at = try reader.required("at", ScenarioTime.form, ScenarioTime.instant)
        known = try reader.optional("known", ScenarioTime.form, ScenarioTime.instant)
        let customer = try reader.optional(
            "customer",
            ScenarioCustomers.form,
            ScenarioCustomers.customer
        )
        self.customer = customer ?? ScenarioCustomers.usual
        tier = try reader.required("tier", "expected a tier", \.string)
        status = try reader.text("status")
        isFetched = try reader.flag("fetched") ?? true
    }
}

/// Instants of scenarios: so long behind their beginning.
enum ScenarioTime {
    static let form = "expected a whole number of days, hours or minutes such as 31d, 36h, 10m"

    static func instant(_ json: JSONValue) -> Instant? {
        guard let text = json.string, let unit = units[text.last ?? " "],
            let count = Int64(text.dropLast()), (0...limit).contains(count)
        else { return nil }
        // Fits: a hundred thousand days.
        return Scenario.start.advanced(byMilliseconds: count * unit)
    }

    private static let units: [Character: Int64] = [
        "d": Instant.millisecondsPerDay, "h": 3_600_000, "m": 60_000,
    ]
    private static let limit: Int64 = 100_000
}

extension JSONValue {
    /// A whole number of a range.
    fileprivate func place(in range: ClosedRange<Int64>) -> Int? {
        integer.flatMap { range.contains($0) ? Int($0) : nil }
    }
}
