import Crypto
import Encodings
import Entitlements

/// What answers of RevenueCat's API come to, and rows of what it exports.
extension RevenueCatMapping {
    /// One submission for each environment that an answer tells of; more where it tells very much.
    ///
    /// Each is named by what it says, so that the same answer again, whenever it was given, is a repeat
    /// (E1) unless RevenueCat said something else in between, where each has its time. One that shows access
    /// behind an end, and not until when, says another thing each hour. Cost: linear in the answer.
    static func submissions(for answer: RevenueCatAnswer) -> [Submission] {
        let named = PayloadNames.revenueCat.subjects(in: answer.json)
        let items = answer.items()
        return [StoreEnvironment.production, .sandbox].flatMap { environment in
            groups(of: items.filter { $0.environment == environment }).map { group in
                submission(group, environment, answer, named)
            }
        }
    }

    /// Events of one submission, but for a single item that has more.
    private static let draftLimit = 1000

    private static func groups(of items: [RevenueCatItem]) -> [[RevenueCatItem]] {
        var groups: [[RevenueCatItem]] = []
        var count = 0
        for item in items {
            if groups.isEmpty || count + item.drafts.count > draftLimit {
                groups.append([])
                count = 0
            }
            groups[groups.count - 1].append(item)
            count += item.drafts.count
        }
        return groups
    }

    private static func submission(
        _ items: [RevenueCatItem],
        _ environment: StoreEnvironment,
        _ answer: RevenueCatAnswer,
        _ named: [Subject]
    ) -> Submission {
        let others = answer.otherNames
        let customers = RevenueCatCustomers(asked: answer.customer, others: others)
        let meaning = RevenueCatMeaning(
            drafts: items.flatMap(\.drafts),
            customers,
            saidAt: answer.observedAt
        )
        let said = JSONValue.array(
            [.optional(answer.customer?.text), .array(others.map { $0 ?? .null })]
                + items.map(\.content)
        )
        let digest = SHA256.hash(data: Array(said.description.utf8))
        return Submission(
            id: "answer/" + Hexadecimal.encode(digest),
            source: Source.revenueCat,
            environment: environment,
            nature: answer.isDated ? .answer : .signal,
            drafts: meaning.drafts + passedOver(meaning),
            evidence: answer.body,
            named: named,
            links: meaning.links
        )
    }
}

extension RevenueCatAnswer {
    /// What it says of each purchase; never empty.
    func items() -> [RevenueCatItem] {
        let items: [RevenueCatItem]
        switch content {
        case .subscriber(let subscriber): items = self.items(of: subscriber)
        case .list(let entries): items = entries.map { item(ofList: $0) }
        case .row(let row):
            let row = row.withoutEmptyColumns
            items = [
                item("export_row", row.json, environment: row.toldEnvironment) {
                    () throws(InputFault) in try RevenueCatStanding(row: row, in: self)
                }
            ]
        case .customer: items = []
        }
        return items.isEmpty ? [nothing] : items
    }

    /// The other names of the customer, as the answer has them.
    ///
    /// A list's `original_customer_id` is somebody else, of whom a subscription was transferred.
    fileprivate var otherNames: [JSONValue?] {
        switch content {
        case .subscriber(let subscriber):
            [subscriber["original_app_user_id"]] + (subscriber["aliases"]?.array ?? [])
        case .row(let row): [row["rc_original_app_user_id"]]
        case .list, .customer: []
        }
    }

    private func items(of subscriber: PayloadObject) -> [RevenueCatItem] {
        let subscriptions = subscriber.object("subscriptions")?.json.members ?? []
        let purchases = subscriber.object("non_subscriptions")?.json.members ?? []
        let running = subscriptions.map { member in
            let fields = PayloadObject(json: member.value)
            return item(
                "subscription_answer",
                member.value,
                of: member.name,
                environment: fields.toldEnvironment
            ) { () throws(InputFault) in
                try RevenueCatStanding(subscription: fields, of: member.name, in: self)
            }
        }
        return running
            + purchases.flatMap { member in
                (member.value.array ?? [member.value]).map { value in
                    let fields = PayloadObject(json: value)
                    return item(
                        "purchase_answer",
                        value,
                        of: member.name,
                        environment: fields.toldEnvironment
                    ) { () throws(InputFault) in
                        try RevenueCatStanding(purchase: fields, of: member.name, in: self)
                    }
                }
            }
    }

    private func item(ofList entry: JSONValue) -> RevenueCatItem {
        let fields = PayloadObject(json: entry)
        let customer = self.customer ?? fields.text("customer_id").flatMap { CustomerID($0) }
        let object = fields.text("object")
        return RevenueCatItem(
            object == "purchase" ? "purchase_answer" : "subscription_answer",
            entry,
            of: product(of: fields)?.text("store_identifier") ?? "",
            beside: [fields.text("id").flatMap { transactions[Name($0)] } ?? .null],
            environment: fields.statedEnvironment,
            customer: customer,
            in: self
        ) { () throws(InputFault) in
            switch object {
            case "subscription":
                try RevenueCatStanding(subscription: fields, account: customer, in: self)
            case "purchase":
                try RevenueCatStanding(purchase: fields, account: customer, in: self)
            default: throw InputFault(unusable: "object is not known")
            }
        }
    }

    private func item(
        _ name: String,
        _ json: JSONValue,
        of product: String = "",
        environment: StoreEnvironment?,
        _ standing: () throws(InputFault) -> RevenueCatStanding
    ) -> RevenueCatItem {
        RevenueCatItem(
            name,
            json,
            of: product,
            beside: [],
            environment: environment,
            customer: customer,
            in: self,
            standing: standing
        )
    }

    /// An answer that names no purchase.
    private var nothing: RevenueCatItem {
        item("customer_answer", .null, environment: .production) { () throws(InputFault) in
            throw InputFault(unusable: "no purchase is named")
        }
    }
}

extension PayloadObject {
    /// The environment that `environment` tells; production where nothing is said; nil for any other
    /// word.
    fileprivate var statedEnvironment: StoreEnvironment? {
        guard let value = self["environment"] else { return .production }
        return switch value.string {
        case "production": .production
        case "sandbox": .sandbox
        default: nil
        }
    }
}
