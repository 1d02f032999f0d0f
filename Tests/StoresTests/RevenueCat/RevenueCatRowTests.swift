import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

/// Rows of RevenueCat's scheduled data exports, as objects of their columns.
struct `A row of an export` {
    private static func row(_ changes: String = "{}") throws -> JSONValue {
        try RevenueCatAnswerSample.changed(
            RevenueCatAnswerSample.json(
                """
                {"rc_original_app_user_id":"$RCAnonymousID:1","rc_last_seen_app_user_id_alias":"u1",
                 "country":"DE","country_source":"from_sdk","product_identifier":"pro",
                 "start_time":"2026-01-01 00:00:00","end_time":"2026-02-01 00:00:00",
                 "grace_period_end_time":"","effective_end_time":"2026-02-01 00:00:00",
                 "store":"app_store","is_auto_renewable":"true","is_trial_period":"false",
                 "is_in_intro_offer_period":"false","is_sandbox":"false",
                 "price_in_usd":"0","purchase_price_in_purchased_currency":"9.99",
                 "purchased_currency":"EUR","store_transaction_id":"t2",
                 "original_store_transaction_id":"t1","refunded_at":"",
                 "unsubscribe_detected_at":"","renewal_number":"2","ownership_type":"PURCHASED",
                 "updated_at":"2026-01-15 00:00:00"}
                """
            ),
            changes
        )
    }

    private static func period(_ more: String = "", end: String = "E") -> [String] {
        [
            #"~purchase.renewed app/t1@P {"transactionId":"t2","productId":"pro","#
                + #""productKind":"auto_renewable","expiresAt":"\#(end)","priceMicros":9990000,"#
                + #""currencyCode":"EUR","ownership":"purchased"\#(more),"storefront":"DE"}"#,
            #"~verification.passed app/t1@P {"transactionId":"t2","method":"store_api"}"#,
        ]
    }

    private static let renews = #"purchase.renewal_changed app/t1@P {"autoRenew":true}"#

    static let rows: [RevenueCatStandingRow] = [
        RevenueCatStandingRow(expected: period() + [renews]),
        RevenueCatStandingRow(
            changes: #"{"unsubscribe_detected_at":"2026-01-10 00:00:00","is_trial_period":"t"}"#,
            expected: period(#","offer":"trial""#) + [
                #"purchase.renewal_changed app/t1@C {"autoRenew":false}"#
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"grace_period_end_time":"2026-02-08 00:00:00.000","#
                + #""is_in_intro_offer_period":true,"effective_end_time":"2026-02-08T00:00:00Z"}"#,
            expected: period(#","offer":"introductory""#) + [
                #"~purchase.grace_started app/t1@E {"transactionId":"t2","graceUntil":"G"}"#,
                renews,
            ]
        ),
        // Upgraded: it took effect earlier than it says.
        RevenueCatStandingRow(
            changes: #"{"effective_end_time":"2026-01-10 00:00:00"}"#,
            expected: period(end: "C") + [
                #"purchase.extended app/t1@A {"transactionId":"t2","expiresAt":"C"}"#, renews,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"refunded_at":"2026-01-10 00:00:00","#
                + #""effective_end_time":"2026-01-10 00:00:00"}"#,
            expected: period() + [
                renews,
                #"revocation.refunded app/t1@C {"transactionId":"t2","reason":"customer_support"}"#,
            ]
        ),
        // Bought once; an estimated country is no storefront.
        RevenueCatStandingRow(
            changes: #"{"is_auto_renewable":false,"end_time":"","country_source":"estimated","#
                + #""effective_end_time":"","purchase_price_in_purchased_currency":"","#
                + #""original_store_transaction_id":""}"#,
            expected: [
                #"~purchase.completed app/t2@P {"transactionId":"t2","productId":"pro","#
                    + #""productKind":"non_consumable","priceMicros":0,"currencyCode":"USD","#
                    + #""ownership":"purchased"}"#,
                #"~verification.passed app/t2@P {"transactionId":"t2","method":"store_api"}"#,
            ]
        ),
        // Given for a month: it does not renew, and ends.
        RevenueCatStandingRow(
            changes: #"{"is_auto_renewable":false,"end_time":"","renewal_number":"","#
                + #""original_store_transaction_id":"","country_source":"estimated"}"#,
            expected: [
                #"~purchase.completed app/t2@P {"transactionId":"t2","productId":"pro","#
                    + #""productKind":"non_renewing","expiresAt":"E","priceMicros":9990000,"#
                    + #""currencyCode":"EUR","ownership":"purchased"}"#,
                #"~verification.passed app/t2@P {"transactionId":"t2","method":"store_api"}"#,
            ]
        ),
    ]

    // trap 24; Stores, rule 1
    @Test(arguments: rows)
    func `comes to what it says`(_ row: RevenueCatStandingRow) throws {
        let answer = try Self.row(row.changes)
        #expect(try RevenueCatAnswerSample.lines(answer) == row.expected)
        let submission = try #require(try RevenueCatAnswerSample.submissions(answer).first)
        #expect(submission.accounts == ["u1"])
        #expect(submission.links.map(\.alias) == ["$RCAnonymousID:1"])
        #expect(submission.named.contains(.customer("$RCAnonymousID:1")))
    }

    // Stores, rule 6; trap 3
    @Test func `notes what cannot be used, and knows the sandbox`() throws {
        #expect(
            try RevenueCatAnswerSample.lines(Self.row(#"{"end_time":""}"#)) == [
                #"signal.noted customer/u1@A {"name":"export_row","detail":"end_time is missing"}"#
            ]
        )
        // A transaction that failed is no renewal.
        #expect(
            try RevenueCatAnswerSample.lines(Self.row(#"{"end_time":"2025-12-31 23:00:00"}"#)) == [
                #"signal.noted customer/u1@A {"name":"export_row","detail":"end_time lies before start_time"}"#
            ]
        )
        for (word, environment) in [
            ("true", .sandbox), ("false", .production), ("t", .sandbox), ("f", .production),
        ] as [(String, StoreEnvironment)] {
            let told = try RevenueCatAnswerSample.submissions(
                Self.row(#"{"is_sandbox":"\#(word)"}"#)
            )
            #expect(told.map(\.environment) == [environment], "\(word)")
        }
    }
}
