import Encodings
package import Entitlements

/// Reads whom a store's payload names, apart from what the mapping makes of it: the one reader of
/// the members in which that store writes ids (Storage, "Evidence").
///
/// It looks everywhere: in objects and arrays however deep, in signed messages within messages, in
/// JSON that stands as a text. A message that is only noted names people like any other.
package struct PayloadNames: Sendable {
    /// Members whose text, or each text of whose list, is a customer's id.
    private let customerMembers: Set<Name>
    /// What a customer's id is called by here; nil: it names nobody.
    private let customer: @Sendable (String) -> CustomerID?
    /// The purchase that an object names by its own members.
    private let purchase: @Sendable ([JSONMember]) -> PurchaseName?

    /// Whom a payload names, each once, in the order of their names.
    ///
    /// Cost: linear in the payload, for each level of signed messages within messages.
    package func subjects(in payload: [UInt8]) -> [Subject] {
        var found: [[UInt8]: Subject] = [:]
        func add(_ subject: Subject) { found[Array(subject.description.utf8)] = subject }
        // Taken one by one: messages within messages have no depth that could be too deep.
        var waiting: [(value: JSONValue, isID: Bool)] = []
        func open(_ text: some Collection<UInt8>) {
            waiting += Self.content(of: text).map { ($0, false) }
        }
        open(payload)
        while let (value, isID) = waiting.popLast() {
            switch value {
            case .object(let members):
                if let purchase = purchase(members) { add(.purchase(purchase)) }
                for member in members {
                    waiting.append((member.value, customerMembers.contains(member.name)))
                }
            case .array(let elements): for element in elements { waiting.append((element, isID)) }
            case .string(let text), .number(let text):
                if isID, let id = customer(text) { add(.customer(id)) }
                if case .string = value { open(text.utf8) }
            case .null, .bool: break
            }
        }
        return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }

    /// What a text holds that is JSON: itself, or the payload of a compact JWS.
    private static func content(of text: some Collection<UInt8>) -> [JSONValue] {
        guard let first = text.first else { return [] }
        // Most texts are words: only what may be JSON or a JWS is looked into.
        if Self.space.contains(first) || first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
            || first == UInt8(ascii: "\"")
        {
            return (try? JSONValue(parsingStoreText: Array(text))).map { [$0] } ?? []
        }
        let parts = text.split(
            separator: UInt8(ascii: "."),
            maxSplits: 3,
            omittingEmptySubsequences: false
        )
        guard parts.count == 3, let payload = Base64.decode(Array(parts[1]).span, .url),
            let json = try? JSONValue(parsingStoreText: payload)
        else { return [] }
        return [json]
    }

    private static let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
}

extension PayloadNames {
    /// The App Store's: the account token that an app gives, and the purchase
    /// (developer.apple.com/documentation/appstoreserverapi/appaccounttoken).
    package static let appStore = PayloadNames(
        customerMembers: ["appAccountToken"],
        // Customers go by the lower-case text of a UUID; whatever else an app wrote there may be
        // somebody's id all the same.
        customer: { AppAccountToken.isNobody($0) ? nil : AppAccountToken.id($0) ?? CustomerID($0) },
        purchase: { members in
            purchase(members, "originalTransactionId", store: Source.appStore)
        }
    )

    /// RevenueCat's (revenuecat.com/docs/integrations/webhooks/event-types-and-fields).
    package static let revenueCat = PayloadNames(
        customerMembers: [
            "app_user_id", "original_app_user_id", "new_app_user_id", "aliases",
            "transferred_from", "transferred_to", "redeemed_from", "redeemed_by", "customer_id",
            "subscriber_id",
        ],
        customer: { CustomerID($0) },
        purchase: { members in
            let store = members.first { $0.name == "store" }?.value.string?.lowercased()
            guard let store, Identifier.isStore(store) else { return nil }
            let canonical = AppleStore.canonical(store)
            return purchase(members, "original_transaction_id", store: canonical)
                ?? purchase(members, "transaction_id", store: canonical)
        }
    )

    /// The reader of a source's payloads; nil for a source that is no store's.
    package init?(source: String) {
        switch source {
        case Source.appStore: self = .appStore
        case Source.revenueCat: self = .revenueCat
        default: return nil
        }
    }

    private static func purchase(
        _ members: [JSONMember],
        _ name: String,
        store: String
    ) -> PurchaseName? {
        guard let id = members.first(where: { $0.name == name })?.value.string,
            Identifier.isValid(id)
        else { return nil }
        return PurchaseName(store: store, originalID: id)
    }
}
