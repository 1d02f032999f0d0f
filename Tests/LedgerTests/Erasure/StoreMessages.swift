import Encodings
import Entitlements
import Foundation
import ModelSupport
import StoreSimulator
import Stores

/// Random messages of the stores, of every type, that name random people at random places: valid
/// ones, and such as lack or garble what their type needs.
struct StoreMessages {
    /// Who may be named, each by twelve digits.
    let tokens: [String]
    private var random: SplitMix64
    /// No two of these members have one name: whoever reads a message refuses a repeated one.
    private var hiddenCount = 0
    private let verifier = LocalTestingVerifier(bundleIDs: [bundleID])

    /// A message as it was received, what came of it, and whom it names.
    struct Message {
        var submission: Submission
        var named: Set<String>
    }

    private static let bundleID = "com.example.app"
    private static let start = Instant(milliseconds: 1_767_225_600_000)
    /// People in a message of very many.
    private static let crowd = 300

    init(people: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        tokens = (0..<people).map { _ in
            String(UInt64.random(in: 100_000_000_000..<1_000_000_000_000, using: &random))
        }
        self.random = random
    }

    /// The ids by which somebody goes: by name, by number, as an account token.
    static func ids(of token: String) -> [String] {
        ["who-\(token)", token, "00000000-0000-4000-8000-\(token)"]
    }

    /// The next message; nil where its form was refused.
    mutating func next(_ number: Int) async throws -> Message? {
        let isCrowd = Int.random(in: 0..<50, using: &random) == 0
        let count = isCrowd ? Self.crowd : Int.random(in: 1...3, using: &random)
        let named = (0..<count).map { _ in pick(tokens) }
        let submission =
            Bool.random(using: &random)
            ? try revenueCat(number, named) : try await appStore(number, named)
        return submission.map { Message(submission: $0, named: Set(named)) }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    /// Members of which some are missing and some garbled.
    private mutating func damaged(_ members: KeyValuePairs<String, JSONValue>) -> [JSONMember] {
        members.compactMap { name, value in
            if chance(6) { return nil }
            return JSONMember(
                name,
                chance(4) ? pick([.null, "odd", .integer(-1), .array([])]) : value
            )
        }
    }

    /// JSON at a place where nobody expects it.
    private mutating func hidden(_ inner: JSONValue) -> JSONMember {
        hiddenCount += 1
        let name = pick(["extra", "metadata", "context"]) + "\(hiddenCount)"
        return JSONMember(
            name,
            pick([
                inner, .array([.null, inner]), .members(["deep": .members(["er": inner])]),
                .string(inner.description), .string(Self.jws(inner)),
            ])
        )
    }

    private static func jws(_ payload: JSONValue) -> String {
        let text = Data(payload.description.utf8).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        return "e30.\(text).c2ln"
    }
}

// MARK: RevenueCat

extension StoreMessages {
    private static let types =
        RevenueCatMapping.knownTypes.sorted() + ["INVOICE_ISSUANCE", "OF_TOMORROW", "TEST"]

    private mutating func revenueCat(_ number: Int, _ named: [String]) throws -> Submission? {
        var event =
            [
                JSONMember("id", .string("m-\(number)")),
                JSONMember("type", .string(pick(Self.types))),
                JSONMember("event_timestamp_ms", .integer(Self.start.milliseconds + Int64(number))),
            ]
            + damaged([
                "product_id": "pro.month", "period_type": "NORMAL", "store": "APP_STORE",
                "purchased_at_ms": .integer(Self.start.milliseconds),
                "expiration_at_ms": .integer(Self.start.milliseconds + 2_592_000_000),
                "transaction_id": .string("t-\(number)"),
                "original_transaction_id": .string("o-\(number % 40)"),
                "environment": .string(pick(["PRODUCTION", "PRODUCTION", "SANDBOX", "ODD"])),
                "redemption_outcome": "transfer",
            ])
        if chance(10) { event.append(JSONMember("paywall_id", "p")) }
        var envelope = [JSONMember("api_version", "1.0")]
        var lists: [String: [JSONValue]] = [:]
        for token in named {
            let id = revenueCatID(token)
            let name = pick(["app_user_id", "original_app_user_id"])
            switch Int.random(in: 0..<8, using: &random) {
            case 0...1 where !event.contains { $0.name == name }: event.append(JSONMember(name, id))
            case 2: event.append(hidden(.object([JSONMember(name, id)])))
            case 3: envelope.append(hidden(.object([JSONMember("aliases", .array([id]))])))
            default:
                let list = pick([
                    "aliases", "aliases", "transferred_from", "transferred_to", "redeemed_from",
                    "redeemed_by",
                ])
                lists[list, default: []].append(id)
            }
        }
        event += lists.sorted { $0.key < $1.key }.map { JSONMember($0.key, .array($0.value)) }
        event.append(
            JSONMember(
                "subscriber_attributes",
                .members(["$email": .members(["value": .string(named[0] + "@example.org")])])
            )
        )
        envelope.append(JSONMember("event", .object(event)))
        let body = Array(JSONValue.object(Self.once(envelope)).description.utf8)
        guard let webhook = try? UnverifiedRevenueCatWebhook.reading(bytes: body).get() else {
            return nil
        }
        return RevenueCatMapping.submission(
            for: webhook.trusting(.operatorImport, receivedAt: .latest),
            body: body
        )
    }

    private mutating func revenueCatID(_ token: String) -> JSONValue {
        chance(10) ? .number(token) : .string("who-" + token)
    }

    /// A repeated member would have the message refused.
    private static func once(_ members: [JSONMember]) -> [JSONMember] {
        var names: Set<String> = []
        return members.filter { names.insert($0.name).inserted }
    }
}

// MARK: App Store

extension StoreMessages {
    private static let rows =
        AppStoreMapping.knownTypes.sorted { ($0.type, $0.subtype) < ($1.type, $1.subtype) }
        + [("OF_TOMORROW", ""), ("TEST", "")]

    private mutating func appStore(_ number: Int, _ named: [String]) async throws -> Submission? {
        let original = "o-\(number % 40)"
        var parts: [String: [JSONMember]] = [:]
        for (place, token) in named.enumerated() {
            let member = JSONMember("appAccountToken", accountToken(token))
            switch Int.random(in: 0..<6, using: &random) {
            case 0...1 where place == 0: parts["transaction", default: []].append(member)
            case 2...3 where place == 0: parts["renewal", default: []].append(member)
            default:
                let part = pick(["transaction", "renewal", "data", "payload", "body"])
                parts[part, default: []].append(hidden(.object([member])))
            }
        }
        let transaction = JSONValue.object(
            damaged([
                "transactionId": .string("t-\(number)"), "productId": "pro.month",
                "purchaseDate": .integer(Self.start.milliseconds),
                "expiresDate": .integer(Self.start.milliseconds + 2_592_000_000),
                "type": "Auto-Renewable Subscription", "storefront": "USA", "currency": "USD",
            ]) + Self.common(number, original) + (parts["transaction"] ?? [])
        )
        let renewal = JSONValue.object(
            damaged(["autoRenewStatus": .integer(1), "autoRenewProductId": "pro.month"])
                + Self.common(number, original) + (parts["renewal"] ?? [])
        )
        let single = pick([0, 0, 0, 0, 1, 2])
        if single > 0, parts.keys.allSatisfy({ $0 == (single == 1 ? "transaction" : "renewal") }) {
            return try await submission(Self.jws(single == 1 ? transaction : renewal), nil)
        }
        let row = pick(Self.rows)
        let data =
            Self.common(number, nil) + (parts["data"] ?? [])
            + (parts["transaction"] == nil && chance(30)
                ? [] : [JSONMember("signedTransactionInfo", .string(Self.jws(transaction)))])
            + (parts["renewal"] == nil && chance(30)
                ? [] : [JSONMember("signedRenewalInfo", .string(Self.jws(renewal)))])
        let payload = JSONValue.object(
            [
                JSONMember("notificationType", .string(row.type)),
                JSONMember("subtype", row.subtype.isEmpty ? .null : .string(row.subtype)),
                JSONMember("notificationUUID", .string("n-\(number)")),
                JSONMember("signedDate", .integer(Self.start.milliseconds)),
                JSONMember("data", .object(data)),
            ] + (parts["payload"] ?? [])
        )
        let body = JSONValue.object(
            [JSONMember("signedPayload", .string(Self.jws(payload)))] + (parts["body"] ?? [])
        )
        return try await submission(nil, body)
    }

    private static func common(_ number: Int, _ original: String?) -> [JSONMember] {
        [
            JSONMember("bundleId", .string(bundleID)), JSONMember("environment", "LocalTesting"),
            JSONMember("signedDate", .integer(start.milliseconds + Int64(number))),
        ] + (original.map { [JSONMember("originalTransactionId", .string($0))] } ?? [])
    }

    private mutating func accountToken(_ token: String) -> JSONValue {
        let ids = Self.ids(of: token)
        return .string(chance(10) ? ids[0] : chance(30) ? ids[2].uppercased() : ids[2])
    }

    private func submission(_ jws: String?, _ body: JSONValue?) async throws -> Submission? {
        let now = Self.start.advanced(byMilliseconds: Instant.millisecondsPerDay)
        guard let body else {
            return try? await AppStoreImport.outcome(
                ofJWS: Array((jws ?? "").utf8),
                verifier: verifier,
                now: now
            ).get()
        }
        let outcomes = await AppStoreImport.outcomes(
            of: body,
            body: Array(body.description.utf8),
            verifier: verifier,
            now: now
        )
        return try? outcomes.first?.get()
    }
}
