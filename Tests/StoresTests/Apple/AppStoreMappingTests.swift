import Entitlements
import Stores
import Testing

/// One type and subtype of notification, and what it adds to what its signed parts say.
struct AppStoreRow: Sendable, CustomTestStringConvertible {
    let type: String
    let subtype: String?
    /// When all is signed.
    var day = "2026-01-11"
    var transaction = ""
    var renewal = ""
    /// The period as the transaction states it.
    var period = AppStoreRow.period()
    /// What the row adds.
    let expected: [String]

    init(
        _ type: String,
        _ subtype: String? = nil,
        signed day: String = "2026-01-11",
        transaction: String = "",
        renewal: String = "",
        period: String? = nil,
        adds expected: String...
    ) {
        self.type = type
        self.subtype = subtype
        self.day = day
        self.transaction = transaction
        self.renewal = renewal
        // What has ended is said weakly, so that whatever was told of its end counts.
        let observed = type == "EXPIRED" ? "W" : day == "2026-01-11" ? "S" : "L"
        self.period = period ?? Self.period(observed: observed)
        self.expected = expected
    }

    var testDescription: String { "\(type) \(subtype ?? "")" }

    /// `purchase.completed` of the sample, changed in its end or its kind.
    static func period(
        _ kind: String = "completed",
        end: String = "E",
        observed: String = "S"
    ) -> String {
        #"purchase.\#(kind) o1@P {"transactionId":"t1","productId":"pro","#
            + #""productKind":"auto_renewable","expiresAt":"\#(end)","priceMicros":9990000,"#
            + #""currencyCode":"USD","quantity":1,"ownership":"purchased","storefront":"USA","#
            + #""observedAt":"\#(observed)"}"#
    }
}

struct `The App Store's notifications become` {
    static let grace = "\"gracePeriodExpiresDate\":1770508800000"
    static let refunded = #""revocationDate":1768003200000,"revocationReason":1"#

    /// A transaction of items that are sold as one, such as are refunded one by one.
    static func sold(_ items: String) -> String {
        #""advancedCommerceInfo":{"items":[\#(items)]}"#
    }
    static let keptItem = #"{"SKU":"a","refunds":[{"refundType":"PRORATED"}]}"#
    static let revokedItem =
        #"{"SKU":"b","refunds":[{"refundType":"FULL"}],"revocationDate":1768003200000}"#
    static let noted =
        #"signal.noted o1@S {"name":"refund","#
        + #""detail":"advancedCommerceInfo.items holds what is not revoked"}"#

    // row 2.3, row 7.3; FACTS: 23 types and their subtypes
    static let rows: [AppStoreRow] = [
        AppStoreRow("SUBSCRIBED", "INITIAL_BUY"),
        AppStoreRow("SUBSCRIBED", "RESUBSCRIBE"),
        // A renewal gives access by itself: it may be the first that we hear.
        AppStoreRow(
            "DID_RENEW",
            transaction: #""transactionReason":"RENEWAL""#,
            period: AppStoreRow.period("renewed")
        ),
        AppStoreRow(
            "DID_RENEW",
            "BILLING_RECOVERY",
            transaction: #""transactionReason":"RENEWAL""#,
            period: AppStoreRow.period("renewed")
        ),
        AppStoreRow("OFFER_REDEEMED"),
        AppStoreRow("OFFER_REDEEMED", "INITIAL_BUY"),
        AppStoreRow("OFFER_REDEEMED", "RESUBSCRIBE"),
        AppStoreRow("OFFER_REDEEMED", "UPGRADE"),
        AppStoreRow("OFFER_REDEEMED", "DOWNGRADE"),
        AppStoreRow("DID_CHANGE_RENEWAL_PREF"),
        AppStoreRow("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
        AppStoreRow("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
        AppStoreRow("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
        AppStoreRow("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"),
        // Told after the end, in effect from the end.
        AppStoreRow(
            "DID_FAIL_TO_RENEW",
            signed: "2026-02-09",
            adds: #"purchase.retry_started o1@E {"transactionId":"t1","observedAt":"L"}"#
        ),
        AppStoreRow(
            "DID_FAIL_TO_RENEW",
            "GRACE_PERIOD",
            renewal: grace,
            adds: #"purchase.grace_started o1@E {"transactionId":"t1","graceUntil":"G","#
                + #""observedAt":"S"}"#
        ),
        AppStoreRow(
            "GRACE_PERIOD_EXPIRED",
            signed: "2026-02-09",
            renewal: grace,
            adds: #"purchase.retry_started o1@G {"transactionId":"t1","observedAt":"L"}"#
        ),
        AppStoreRow(
            "EXPIRED",
            "VOLUNTARY",
            signed: "2026-02-09",
            adds: #"purchase.expired o1@L {"transactionId":"t1","reason":"voluntary"}"#
        ),
        AppStoreRow(
            "EXPIRED",
            "BILLING_RETRY",
            signed: "2026-02-09",
            adds: #"purchase.expired o1@L {"transactionId":"t1","reason":"billing_retry"}"#
        ),
        AppStoreRow(
            "EXPIRED",
            "PRICE_INCREASE",
            signed: "2026-02-09",
            adds: #"purchase.expired o1@L {"transactionId":"t1","reason":"price_increase"}"#
        ),
        AppStoreRow(
            "EXPIRED",
            "PRODUCT_NOT_FOR_SALE",
            signed: "2026-02-09",
            adds: #"purchase.expired o1@L {"transactionId":"t1","reason":"product_not_for_sale"}"#
        ),
        AppStoreRow(
            "EXPIRED",
            signed: "2026-02-09",
            renewal: #""expirationIntent":4"#,
            adds: #"purchase.expired o1@L {"transactionId":"t1","reason":"product_not_for_sale"}"#
        ),
        // Stores, rule 7: of every subtype, those of tomorrow too.
        AppStoreRow(
            "EXPIRED",
            "BY_MAGIC",
            signed: "2026-02-09",
            adds: #"purchase.expired o1@L {"transactionId":"t1","reason":"by_magic"}"#
        ),
        AppStoreRow(
            "RENEWAL_EXTENDED",
            transaction: #""expiresDate":1770508800000"#,
            period: AppStoreRow.period(end: "G"),
            adds: #"purchase.extended o1@S {"transactionId":"t1","expiresAt":"G"}"#
        ),
        // Trap 4: one transaction, from the refund on, whatever else runs.
        AppStoreRow(
            "REFUND",
            transaction: refunded,
            adds: #"revocation.refunded o1@R {"transactionId":"t1","reason":"app_issue","#
                + #""observedAt":"S"}"#
        ),
        AppStoreRow("REFUND", adds: #"revocation.refunded o1@S {"transactionId":"t1"}"#),
        // Trap 16: of several items one, or a part of one.
        AppStoreRow("REFUND", transaction: sold("\(revokedItem),\(keptItem)"), adds: noted),
        AppStoreRow("REFUND", transaction: sold(keptItem), adds: noted),
        AppStoreRow(
            "REFUND",
            transaction: sold("\(revokedItem),\(revokedItem)"),
            adds: #"revocation.refunded o1@S {"transactionId":"t1"}"#
        ),
        AppStoreRow(
            "REFUND",
            transaction: "\(sold(keptItem)),\(refunded)",
            adds: #"revocation.refunded o1@R {"transactionId":"t1","reason":"app_issue","#
                + #""observedAt":"S"}"#
        ),
        AppStoreRow(
            "REFUND",
            transaction: sold(""),
            adds: #"revocation.refunded o1@S {"transactionId":"t1"}"#
        ),
        AppStoreRow("REFUND_REVERSED", adds: #"revocation.reversed o1@S {"transactionId":"t1"}"#),
        AppStoreRow("REFUND_DECLINED", adds: "signal.noted o1@S {\"name\":\"refund_declined\"}"),
        AppStoreRow(
            "REVOKE",
            transaction: refunded,
            adds: #"revocation.revoked o1@R {"transactionId":"t1","reason":"app_issue","#
                + #""observedAt":"S"}"#
        ),
        AppStoreRow(
            "CONSUMPTION_REQUEST",
            adds: "signal.noted o1@S {\"name\":\"consumption_request\"}"
        ),
        AppStoreRow("ONE_TIME_CHARGE"),
        AppStoreRow(
            "PRICE_INCREASE",
            "PENDING",
            adds: "signal.noted o1@S {\"name\":\"price_increase_pending\"}"
        ),
        AppStoreRow(
            "PRICE_INCREASE",
            "ACCEPTED",
            adds: "signal.noted o1@S {\"name\":\"price_increase_accepted\"}"
        ),
        AppStoreRow("PRICE_CHANGE", adds: "signal.noted o1@S {\"name\":\"price_change\"}"),
        AppStoreRow("METADATA_UPDATE", adds: "signal.noted o1@S {\"name\":\"metadata_update\"}"),
        AppStoreRow("MIGRATION", adds: "signal.noted o1@S {\"name\":\"migration\"}"),
        AppStoreRow(
            "RENEWAL_EXTENSION",
            "FAILURE",
            adds: "signal.noted o1@S {\"name\":\"renewal_extension_failure\"}"
        ),
        // Trap 22: what is signed stands, what the subtype means is not known.
        AppStoreRow(
            "DID_RENEW",
            "BY_MAGIC",
            adds: "signal.noted o1@S {\"name\":\"did_renew_by_magic\"}"
        ),
    ]

    // Stores, rule 1
    @Test(arguments: rows)
    func `the period, its verdict and what their type adds`(_ row: AppStoreRow) async throws {
        let submission = try await AppStoreSample.submission(
            row.type,
            row.subtype,
            signed: row.day,
            transaction: row.transaction,
            renewal: row.renewal
        )
        let observed = row.day == "2026-01-11" ? "S" : "L"
        let verdict =
            #"verification.passed o1@P {"transactionId":"t1","method":"app_store_jws","#
            + #""observedAt":"\#(observed)"}"#
        let renews =
            #"purchase.renewal_changed o1@\#(observed) {"autoRenew":true,"nextProductId":"pro"}"#
        #expect(
            AppStoreSample.lines(submission) == [row.period, verdict] + row.expected + [renews]
        )
        #expect(submission.accounts.isEmpty)
    }

    /// Notifications that speak of no purchase.
    static let storeRows: [(String, String?, String, String)] = [
        ("TEST", nil, "", "test"),
        (
            "RENEWAL_EXTENSION", "SUMMARY",
            #""data":null,"summary":{"environment":"Sandbox","bundleId":"com.example.app"}"#,
            "renewal_extension_summary"
        ),
        (
            "EXTERNAL_PURCHASE_TOKEN", "UNREPORTED",
            #""data":null,"externalPurchaseToken":{"externalPurchaseId":"SANDBOX_1","#
                + #""bundleId":"com.example.app"}"#,
            "external_purchase_token_unreported"
        ),
        (
            "RESCIND_CONSENT", nil,
            #""data":null,"appData":{"environment":"Sandbox","bundleId":"com.example.app"}"#,
            "rescind_consent"
        ),
    ]

    @Test(arguments: storeRows)
    func `a note on the store where no purchase is named`(
        _ type: String,
        _ subtype: String?,
        _ changes: String,
        _ name: String
    ) async throws {
        let submission = try await AppStoreSample.submission(
            type,
            subtype,
            transaction: nil,
            renewal: nil,
            changes
        )
        let line = "signal.noted store/app_store@S {\"name\":\"\(name)\"}"
        #expect(AppStoreSample.lines(submission) == [line])
    }

    @Test func `what every type and subtype that Apple names has a row for`() {
        let tested = Set(
            Self.rows.map { "\($0.type) \($0.subtype ?? "")" }
                + Self.storeRows.map { "\($0.0) \($0.1 ?? "")" }
        )
        let known = Set(AppStoreMapping.knownTypes.map { "\($0.type) \($0.subtype)" })
        #expect(tested.subtracting(known) == ["DID_RENEW BY_MAGIC", "EXPIRED BY_MAGIC"])
        #expect(known.subtracting(tested).isEmpty)
        #expect(Set(AppStoreMapping.knownTypes.map(\.type)).count == 23)
    }
}
