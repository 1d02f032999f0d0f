import Entitlements
import Stores
import Testing

/// One event type or variant of it, and the events that it comes to.
struct MappingRow: Sendable, CustomTestStringConvertible {
    let type: String
    let changes: String
    let expected: [String]

    init(_ type: String, _ changes: String = "", _ expected: String...) {
        self.type = type
        self.changes = changes
        self.expected = expected
    }

    var testDescription: String { "\(type) \(changes)" }
}

struct `RevenueCat's events become` {
    static let verdict =
        #"verification.passed o1@P {"transactionId":"t2","method":"channel_secret"}"#
    static let renews = #"purchase.renewal_changed o1@P {"autoRenew":true}"#

    static func period(_ kind: String, _ productKind: String, _ rest: String) -> String {
        #"purchase.\#(kind) o1@P {"transactionId":"t2","productId":"pro:monthly","#
            + #""productKind":"\#(productKind)"\#(rest)}"#
    }

    // row 2.3, row 10.2, trap 20 (whole product ids), trap 21 (a renewal by itself)
    static let periods: [MappingRow] = [
        MappingRow(
            "INITIAL_PURCHASE",
            #""price":4.2,"price_in_purchased_currency":4.99,"currency":"EUR","country_code":"DE""#,
            period(
                "completed",
                "auto_renewable",
                #","expiresAt":"E","priceMicros":4990000,"currencyCode":"EUR","storefront":"DE""#
            ),
            verdict,
            renews
        ),
        MappingRow(
            "INITIAL_PURCHASE",
            #""period_type":"TRIAL","price":0,"is_family_share":true"#,  // 6, 11
            period(
                "completed",
                "auto_renewable",
                #","expiresAt":"E","priceMicros":0,"currencyCode":"USD","#
                    + #""ownership":"family_shared","offer":"trial""#
            ),
            verdict,
            renews
        ),
        MappingRow(
            "INITIAL_PURCHASE",
            #""period_type":"INTRO","is_family_share":false"#,
            period(
                "completed",
                "auto_renewable",
                #","expiresAt":"E","ownership":"purchased","offer":"introductory""#
            ),
            verdict,
            renews
        ),
        MappingRow(
            "INITIAL_PURCHASE",
            #""period_type":"PROMOTIONAL""#,
            period(
                "completed",
                "auto_renewable",
                #","expiresAt":"E","offer":"promotional""#
            ),
            verdict,
            renews
        ),
        MappingRow(
            "INITIAL_PURCHASE",
            #""offer_code":"SUMMER""#,
            period("completed", "auto_renewable", #","expiresAt":"E","offer":"code""#),
            verdict,
            renews
        ),
        MappingRow(
            "INITIAL_PURCHASE",
            #""period_type":"PREPAID""#,
            period("completed", "non_renewing", #","expiresAt":"E""#),
            verdict
        ),
        MappingRow(
            "INITIAL_PURCHASE",
            #""expiration_at_ms":7258118400000"#,  // 2: after 2200, no end
            period("completed", "auto_renewable", ""),
            verdict,
            renews
        ),
        MappingRow(
            "RENEWAL",
            #""is_trial_conversion":true"#,
            period("renewed", "auto_renewable", #","expiresAt":"E""#),
            verdict,
            renews
        ),
        MappingRow(
            "NON_RENEWING_PURCHASE",
            "",
            period("completed", "non_renewing", #","expiresAt":"E""#),
            verdict
        ),
        MappingRow(
            "NON_RENEWING_PURCHASE",
            #""expiration_at_ms":null"#,  // 10: a lifetime purchase
            period("completed", "non_consumable", ""),
            verdict
        ),
        MappingRow(
            "TEMPORARY_ENTITLEMENT_GRANT",
            "",
            period("completed", "non_renewing", #","expiresAt":"E""#),
            verdict
        ),
    ]

    static let changes: [MappingRow] = [
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"UNSUBSCRIBE""#,
            #"purchase.renewal_changed o1@S {"reason":"unsubscribe","autoRenew":false}"#
        ),
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"BILLING_ERROR""#,
            #"purchase.renewal_changed o1@S {"reason":"billing_error","autoRenew":false}"#
        ),
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"DEVELOPER_INITIATED""#,
            #"purchase.renewal_changed o1@S {"reason":"developer_initiated","autoRenew":false}"#
        ),
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"PRICE_INCREASE""#,
            #"purchase.renewal_changed o1@S {"reason":"price_increase","autoRenew":false}"#
        ),
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"UNKNOWN""#,
            #"purchase.renewal_changed o1@S {"reason":"unknown","autoRenew":false}"#
        ),
        MappingRow(
            "CANCELLATION",
            "",
            #"purchase.renewal_changed o1@S {"autoRenew":false}"#
        ),
        // 4, 10: one transaction is taken back, the amount is positive
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"CUSTOMER_SUPPORT","price_in_purchased_currency":-9.99,"currency":"EUR""#,
            #"revocation.refunded o1@S {"transactionId":"t2","priceMicros":9990000,"#
                + #""currencyCode":"EUR","reason":"customer_support"}"#
        ),
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"CUSTOMER_SUPPORT","price":0"#,
            #"revocation.refunded o1@S {"transactionId":"t2","reason":"customer_support"}"#
        ),
        MappingRow(
            "CANCELLATION",
            #""cancel_reason":"CUSTOMER_SUPPORT","transaction_id":null"#,
            #"signal.noted o1@S {"name":"cancellation","#
                + #""detail":"transaction_id is missing or not valid"}"#
        ),
        MappingRow("UNCANCELLATION", "", #"purchase.renewal_changed o1@S {"autoRenew":true}"#),
        // 15: grace keeps access, without grace there is none
        MappingRow(
            "BILLING_ISSUE",
            #""grace_period_expiration_at_ms":1770508800000"#,
            #"purchase.grace_started o1@E {"transactionId":"t2","graceUntil":"G"}"#
        ),
        MappingRow(
            "BILLING_ISSUE",
            #""grace_period_expiration_at_ms":1770508800000,"expiration_at_ms":1780000000000"#,
            #"purchase.grace_started o1@S {"transactionId":"t2","graceUntil":"G"}"#
        ),
        MappingRow(
            "BILLING_ISSUE",
            #""grace_period_expiration_at_ms":null"#,
            #"purchase.retry_started o1@E {"transactionId":"t2"}"#
        ),
        MappingRow(
            "BILLING_ISSUE",
            #""expiration_at_ms":null"#,
            #"purchase.retry_started o1@S {"transactionId":"t2"}"#
        ),
        MappingRow(
            "SUBSCRIPTION_PAUSED",
            #""auto_resume_at_ms":1770508800000"#,
            #"signal.noted o1@S {"name":"subscription_paused","detail":"resumes at G"}"#
        ),
        MappingRow(
            "PRODUCT_CHANGE",
            #""new_product_id":"pro:yearly""#,
            #"purchase.renewal_changed o1@S {"nextProductId":"pro:yearly"}"#
        ),
        MappingRow(
            "PRODUCT_CHANGE",
            "",
            #"signal.noted o1@S {"name":"product_change","#
                + #""detail":"new_product_id is missing or not valid"}"#
        ),
        MappingRow(
            "SUBSCRIPTION_EXTENDED",
            "",
            #"purchase.extended o1@S {"transactionId":"t2","expiresAt":"E"}"#
        ),
        MappingRow(
            "REFUND_REVERSED",
            "",
            #"revocation.reversed o1@S {"transactionId":"t2"}"#,
            #"purchase.extended o1@S {"transactionId":"t2","expiresAt":"E"}"#
        ),
        MappingRow(
            "REFUND_REVERSED",
            #""expiration_at_ms":null"#,
            #"revocation.reversed o1@S {"transactionId":"t2"}"#
        ),
    ]

    // trap 1: each closes its own transaction only
    static let expirations: [MappingRow] =
        ["UNSUBSCRIBE", "BILLING_ERROR", "DEVELOPER_INITIATED", "PRICE_INCREASE", "UNKNOWN"].map {
            MappingRow(
                "EXPIRATION",
                #""expiration_reason":"\#($0)""#,
                #"purchase.expired o1@S {"transactionId":"t2","reason":"\#($0.lowercased())"}"#
            )
        } + [
            // The store says that it is over, whatever end it stated before.
            MappingRow(
                "EXPIRATION",
                #""expiration_at_ms":7258118400000"#,
                #"purchase.expired o1@S {"transactionId":"t2"}"#
            ),
            MappingRow(
                "EXPIRATION",
                #""expiration_at_ms":null,"transaction_id":null"#,
                "purchase.expired o1@S {}"
            ),
            MappingRow(
                "EXPIRATION",
                #""expiration_reason":"SUBSCRIPTION_PAUSED","auto_resume_at_ms":1770508800000"#,
                #"purchase.paused o1@E {"resumesAt":"G"}"#
            ),
            // The stated end is the first one: what was given behind it is not taken back (Stores, rule 7).
            MappingRow(
                "EXPIRATION",
                #""expiration_reason":"CUSTOMER_SUPPORT","expiration_at_ms":1767225600000"#,
                #"revocation.refunded o1@S {"transactionId":"t2","reason":"customer_support"}"#
            ),
            MappingRow(
                "EXPIRATION",
                #""expiration_reason":"CUSTOMER_SUPPORT""#,
                #"revocation.refunded o1@S {"transactionId":"t2","reason":"customer_support"}"#
            ),
        ]

    // traps 8 and 22
    static let others: [MappingRow] = [
        MappingRow(
            "TRANSFER",
            #""transferred_from":["a","b"],"transferred_to":["c"]"#,
            #"customer.transferred customer/c@S {"from":["a","b"]}"#
        ),
        MappingRow(
            "TRANSFER",
            #""transferred_from":["a","c"],"transferred_to":["$RCAnonymousID:1","c"]"#,
            #"customer.transferred customer/c@S {"from":["a"]}"#
        ),
        MappingRow(
            "TRANSFER",
            #""transferred_from":["a"],"transferred_to":["b"],"paywall_id":"p""#,
            #"signal.noted o1@S {"name":"transfer","detail":"a paywall's own event"}"#
        ),
        MappingRow(
            "TRANSFER",
            #""transferred_from":[],"transferred_to":["b"]"#,
            #"signal.noted o1@S {"name":"transfer","#
                + #""detail":"transferred_from is missing or not valid"}"#
        ),
        MappingRow(
            "PURCHASE_REDEEMED",
            #""redemption_outcome":"transfer","redeemed_from":["a"],"redeemed_by":["b"]"#,
            #"customer.transferred customer/b@S {"from":["a"]}"#
        ),
        MappingRow(
            "PURCHASE_REDEEMED",
            #""redemption_outcome":"alias","redeemed_from":["a"],"redeemed_by":["b"]"#,
            #"signal.noted o1@S {"name":"purchase_redeemed","#
                + #""detail":"redemption_outcome is not a transfer"}"#
        ),
        MappingRow(
            "SUBSCRIBER_ALIAS",
            "",
            #"signal.noted customer/u1@S {"name":"subscriber_alias"}"#
        ),
        MappingRow("TEST", "", #"signal.noted store/play_store@S {"name":"test"}"#),
        MappingRow("TEST", #""store":null"#, #"signal.noted store/revenuecat@S {"name":"test"}"#),
        MappingRow(
            "FUTURE-Event 9!",
            #""store":null"#,
            #"signal.noted customer/u1@S {"name":"future_event_9"}"#
        ),
        MappingRow(
            "FUTURE",
            #""store":"STRIPE","app_user_id":null,"transaction_id":null,"#
                + #""original_transaction_id":null"#,
            #"signal.noted store/stripe@S {"name":"future"}"#
        ),
        MappingRow("購入", "", #"signal.noted o1@S {"name":"unnamed"}"#),
    ]

    static let notedTypes = [
        "INVOICE_ISSUANCE", "VIRTUAL_CURRENCY_TRANSACTION", "EXPERIMENT_ENROLLMENT",
        "PRICE_INCREASE_CONSENT_REQUIRED", "PRICE_INCREASE_CONSENT_APPROVED",
        "PAYWALL_IMPRESSION", "PAYWALL_CLOSE", "PAYWALL_CANCEL", "PAYWALL_EXIT_OFFER",
        "PAYWALL_COMPONENT_INTERACTED",
    ]
    static let noted = notedTypes.map {
        MappingRow($0, "", #"signal.noted o1@S {"name":"\#($0.lowercased())"}"#)
    }

    @Test(arguments: periods + changes + expirations + others + noted)
    func `the events of their row`(_ row: MappingRow) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event(row.type, row.changes)
        )
        #expect(RevenueCatSample.lines(submission) == row.expected)
        #expect(submission.events.allSatisfy { $0.observedAt.milliseconds == 1_767_225_660_000 })
    }

    @Test func `something in every known type's row`() {
        let tested = Set(
            (Self.periods + Self.changes + Self.expirations + Self.others + Self.noted)
                .map(\.type)
        )
        #expect(RevenueCatMapping.knownTypes.subtracting(tested).isEmpty)
    }
}
