import DurableFiles
import Encodings
import Entitlements
import LedgerOperations
import StoreSimulator
import Stores

/// What stores tell of customers who each buy a subscription and renew it, a message a line, as
/// `entitle import` takes them.
struct BenchMessages {
    /// How many messages there are; each customer has `monthCount`.
    let count: Int

    /// Messages about one customer.
    private static let monthCount = 5
    private static let month = 30 * Instant.millisecondsPerDay

    /// The customer and the month of a message; the customers' messages are woven into one another.
    private func story(_ number: Int) -> (customer: Int, month: Int) {
        let customers = max(1, count / Self.monthCount)
        return (number % customers, number / customers)
    }

    private func start(_ month: Int) -> Instant {
        BenchStory.start.advanced(byMilliseconds: Int64(month) * Self.month)
    }

    // MARK: RevenueCat

    /// Writes bodies of webhooks, each of which names its owner under two names.
    func writeWebhooks(to path: String) throws {
        let file = try OutputFile.open(path)
        for number in 0..<count { try file.write("\(webhook(number))\n".utf8) }
        try file.close()
    }

    private func webhook(_ number: Int) -> JSONValue {
        let (customer, month) = story(number)
        let start = start(month)
        let user = BenchStory(customer: customer).id.text
        return .members([
            "api_version": "1.0",
            "event": .members([
                "id": .string("webhook-\(number)"),
                "type": month == 0 ? "INITIAL_PURCHASE" : "RENEWAL",
                "event_timestamp_ms": .integer(start.milliseconds + 1000),
                "app_user_id": .string(user), "original_app_user_id": .string(user),
                "aliases": .array([.string(user), .string("$RCAnonymousID:" + user)]),
                "store": "PLAY_STORE", "environment": "PRODUCTION", "period_type": "NORMAL",
                "product_id": "premium_monthly",
                "original_transaction_id": .string("GPA.\(customer)"),
                "transaction_id": .string("GPA.\(customer)..\(month)"),
                "purchased_at_ms": .integer(start.milliseconds),
                "expiration_at_ms": .integer(start.milliseconds + Self.month),
                "price": .number("4.99"), "price_in_purchased_currency": .number("4.99"),
                "currency": "EUR", "country_code": "DE", "tax_percentage": .number("0.19"),
                "commission_percentage": .number("0.15"), "entitlement_ids": .array(["premium"]),
                "subscriber_attributes": .members([
                    "$attConsentStatus": .members([
                        "updated_at_ms": .integer(start.milliseconds), "value": "notDetermined",
                    ])
                ]),
            ]),
        ])
    }

    // MARK: App Store

    /// Writes notifications of real size; returns what was signed, and who verifies it.
    func writeNotifications(
        to path: String
    ) throws -> (signed: [[UInt8]], verifier: AppStoreVerifier) {
        let validity =
            BenchStory.start.advanced(byMilliseconds: -Self.month)..<start(Self.monthCount + 1)
        let authority = try SigningAuthority(validity: validity)
        let store = SimulatedAppStore(authority: authority)
        let file = try OutputFile.open(path)
        let signed = try (0..<count).map { try notification($0, store) }
        for message in signed {
            let text = JSONValue.string(String(decoding: message, as: UTF8.self))
            try file.write("\(JSONValue.members(["signedPayload": text]))\n".utf8)
        }
        try file.close()
        let verifier = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [store.bundleID],
                appAppleID: store.appAppleID,
                roots: [authority.root]
            )
        )
        return (signed, verifier)
    }

    private func notification(_ number: Int, _ store: SimulatedAppStore) throws -> [UInt8] {
        let (customer, month) = story(number)
        let original = String(2_000_000_000_000 + customer)
        return try store.notification(
            "DID_RENEW",
            id: "notification-\(number)",
            start: start(month),
            transaction: .members([
                "transactionId": .string(String(2_000_000_000_000_000 + number)),
                "originalTransactionId": .string(original),
            ]),
            renewalInfo: .members(["originalTransactionId": .string(original)])
        )
    }
}
