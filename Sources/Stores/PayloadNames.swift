package import Encodings
package import Entitlements

/// Reads whom a store's payload names, apart from what the mapping makes of it: the one reader of
/// the members in which that store writes ids (Storage, "Evidence").
///
/// It looks everywhere: in objects and arrays however deep, in signed messages within messages, in
/// JSON that stands as a text. A message that is only noted names people like any other.
package struct PayloadNames: Sendable {
    /// Members whose text, or each text of whose list, is a customer's id.
    private let customerMembers: WordList
    /// What a customer's id is called by here; nil: it names nobody.
    private let customer: @Sendable (String) -> CustomerID?
    /// The purchases that an object names by its own members.
    private let purchases: @Sendable ([JSONMember]) -> [PurchaseName]
    /// What objects whose `id` is a customer's call themselves.
    private var objects: Set<Name> = []

    /// Whom a payload names, each once, in the order of their names.
    ///
    /// Cost: linear in the payload, for each level of signed messages within messages.
    package func subjects(in payload: [UInt8]) -> [Subject] {
        subjects(in: payload, decoded: [])
    }

    /// Whom a payload names of whose signed messages some were read before, itself perhaps.
    func subjects(in payload: [UInt8], decoded: [DecodedJWS]) -> [Subject] {
        let content = decoded.json(of: payload.span) ?? Self.content(of: payload.span)
        return content.map { subjects(in: $0, decoded: decoded) } ?? []
    }

    /// Whom a payload names that was read as JSON already.
    package func subjects(in payload: JSONValue) -> [Subject] {
        subjects(in: payload, decoded: [])
    }

    /// Whom a payload names of whose signed messages some were read before.
    func subjects(in payload: JSONValue, decoded: [DecodedJWS]) -> [Subject] {
        var search = Search(decoded: decoded, waiting: [payload])
        // Taken one by one: messages within messages have no depth that could be too deep.
        while let value = search.waiting.popLast() { look(into: value, isID: false, &search) }
        return search.found.sorted { $0.key < $1.key }.map(\.value)
    }

    /// What was found, by its text, and the messages that are to be looked into yet.
    private struct Search {
        let decoded: [DecodedJWS]
        var found: [Name: Subject] = [:]
        var waiting: [JSONValue]

        mutating func add(_ subject: Subject) { found[Name(subject.description)] = subject }
    }

    /// `isID`: whether a text is a customer's id.
    private func look(into value: JSONValue, isID: Bool, _ search: inout Search) {
        switch value {
        case .object(let members):
            for purchase in purchases(members) { search.add(.purchase(purchase)) }
            let isCustomer = isCustomer(members)
            for member in members {
                let isID =
                    customerMembers.index(of: member.name) != nil
                    || isCustomer && member.name == "id"
                look(into: member.value, isID: isID, &search)
            }
        case .array(let elements):
            for element in elements { look(into: element, isID: isID, &search) }
        case .string(let text):
            if isID, let id = customer(text) { search.add(.customer(id)) }
            let span = text.utf8Span.span
            if let content = search.decoded.json(of: span) ?? Self.content(of: span) {
                search.waiting.append(content)
            }
        case .number(let text):
            if isID, let id = customer(text) { search.add(.customer(id)) }
        case .null, .bool: break
        }
    }

    private func isCustomer(_ members: [JSONMember]) -> Bool {
        guard !objects.isEmpty,
            let object = members.first(where: { $0.name == "object" })?.value.string
        else { return false }
        return objects.contains(Name(object))
    }

    /// What a text holds that is JSON: itself, in base64, or the payload of a compact JWS; nil for
    /// other texts, which most are.
    private static func content(of text: Span<UInt8>) -> JSONValue? {
        guard !text.isEmpty else { return nil }
        switch text[0] {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
            return try? JSONValue(parsingStoreText: text)
        // `{` and what may follow it, in base64.
        case UInt8(ascii: "e"):
            if let bytes = Base64.decode(text), let json = try? JSONValue(parsingStoreText: bytes) {
                return json
            }
        default: break
        }
        guard let range = payload(ofJWS: text),
            let payload = Base64.decode(text.extracting(range), .url)
        else { return nil }
        return try? JSONValue(parsingStoreText: payload)
    }

    /// Where the second of a text's three parts stands; nil: it has more, or fewer.
    private static func payload(ofJWS text: Span<UInt8>) -> Range<Int>? {
        let dot = UInt8(ascii: ".")
        var (first, second): (Int?, Int?)
        for index in text.indices where text[index] == dot {
            guard second == nil else { return nil }
            if first == nil { first = index } else { second = index }
        }
        guard let first, let second else { return nil }
        return first + 1..<second
    }
}

extension PayloadNames {
    /// The App Store's: the account token that an app gives, and the purchase
    /// (developer.apple.com/documentation/appstoreserverapi/appaccounttoken).
    package static let appStore = PayloadNames(
        customerMembers: WordList(["appAccountToken"]),
        // Customers go by the lower-case text of a UUID; whatever else an app wrote there may be
        // somebody's id all the same.
        customer: { AppAccountToken.isNobody($0) ? nil : AppAccountToken.id($0) ?? CustomerID($0) },
        purchases: { members in
            [purchase(members, "originalTransactionId", store: Source.appStore)].compactMap(\.self)
        }
    )

    /// Google Play's: the ids that an app gives to a customer, the tokens of purchases, and the orders
    /// by which RevenueCat calls them
    /// (developer.android.com/google/play/billing/developer-payload).
    package static let playStore = PayloadNames(
        customerMembers: WordList([
            "obfuscatedExternalAccountId", "obfuscatedExternalProfileId", "obfuscatedAccountId",
            "obfuscatedProfileId", "externalAccountId", "profileId", "emailAddress",
        ]),
        customer: { CustomerID($0) },
        purchases: { members in
            let tokens = ["purchaseToken", "linkedPurchaseToken", "expiredPurchaseToken"]
                .map { purchase(members, $0, store: Source.playStore) }
            let orders = ["orderId", "latestOrderId", "latestSuccessfulOrderId"]
                .map { purchase(members, $0, store: Source.playStore) }
                .map { order in
                    order.map { PlayOrder($0.originalID).base }.flatMap { PurchaseName.play($0) }
                }
            return (tokens + orders).compactMap(\.self)
        }
    )

    /// RevenueCat's (revenuecat.com/docs/integrations/webhooks/event-types-and-fields, and its REST API).
    package static let revenueCat = PayloadNames(
        customerMembers: WordList([
            "app_user_id", "original_app_user_id", "new_app_user_id", "aliases",
            "transferred_from", "transferred_to", "redeemed_from", "redeemed_by", "customer_id",
            "subscriber_id",
            // Of answers, with who was asked for, and of rows of exports.
            "appUserId", "original_customer_id", "rc_original_app_user_id",
            "rc_last_seen_app_user_id_alias",
        ]),
        customer: { CustomerID($0) },
        purchases: { members in
            let store = members.first { $0.name == "store" }?.value.string?.lowercased()
            guard let store, Identifier.isStore(store) else { return [] }
            let canonical = AppleStore.canonical(store)
            let found =
                purchase(members, "original_transaction_id", store: canonical)
                ?? purchase(members, "transaction_id", store: canonical)
            return [found].compactMap(\.self)
        },
        objects: ["customer", "customer.alias"]
    )

    /// The reader of a source's payloads; nil for a source that is no store's.
    package init?(source: String) {
        switch source {
        case Source.appStore: self = .appStore
        case Source.playStore: self = .playStore
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
