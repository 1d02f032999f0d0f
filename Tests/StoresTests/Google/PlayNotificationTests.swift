import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Testing

@testable import Stores

struct `A notification of Google Play` {
    static let kinds: [(Int, String, String?)] = [
        (1, "subscription_recovered", "purchase.pending"),
        (2, "subscription_renewed", "purchase.pending"),
        (3, "subscription_canceled", nil),
        (4, "subscription_purchased", "purchase.pending"),
        (5, "subscription_on_hold", nil),
        (6, "subscription_in_grace_period", "purchase.pending"),
        (7, "subscription_restarted", "purchase.pending"),
        (8, "subscription_price_change_confirmed", nil),
        (9, "subscription_deferred", "purchase.pending"),
        (10, "subscription_paused", nil),
        (11, "subscription_pause_schedule_changed", nil),
        (12, "subscription_revoked", nil),
        (13, "subscription_expired", nil),
        (17, "subscription_items_changed", nil),
        (18, "subscription_cancellation_scheduled", nil),
        (19, "subscription_price_change_updated", nil),
        (20, "subscription_pending_purchase_canceled", "purchase.abandoned"),
        (22, "subscription_price_step_up_consent_updated", nil),
        // Of tomorrow.
        (99, "subscription_99", nil),
    ]

    // row 8.3: a hint by itself gives nothing and takes nothing away
    @Test(arguments: kinds)
    func `about a subscription is kept, and says whether there is one`(
        _ type: Int,
        _ name: String,
        _ kind: String?
    ) throws {
        let push = try PlaySample.store.get()
            .push(subscription: type, token: "t1", id: "m1", at: PlaySample.told)
        let submission = try PlaySample.submission(push)
        #expect(submission.id == "m1")
        #expect(submission.evidence == Array(push.description.utf8))
        #expect(
            PlaySample.lines(submission)
                == [#"signal.noted t1@S {"name":"\#(name)"}"#]
                + (kind.map { ["\($0) t1@S {}"] } ?? [])
        )
    }

    @Test func `has a row for each type that is documented`() {
        let tested = Set(Self.kinds.map { Int64($0.0) })
        #expect(PlayRows.knownSubscriptionTypes.isSubset(of: tested))
    }

    static let others: [(String, [String])] = [
        (
            #"{"oneTimeProductNotification":{"notificationType":1,"purchaseToken":"t1","sku":"s"}}"#,
            [
                #"signal.noted t1@S {"name":"one_time_product_purchased"}"#,
                "purchase.pending t1@S {}",
            ]
        ),
        (
            #"{"oneTimeProductNotification":{"notificationType":2,"purchaseToken":"t1","sku":"s"}}"#,
            [
                #"signal.noted t1@S {"name":"one_time_product_canceled"}"#,
                "purchase.abandoned t1@S {}",
            ]
        ),
        (
            #"{"voidedPurchaseNotification":{"purchaseToken":"t1","orderId":"GPA.1","refundType":1}}"#,
            [
                #"revocation.refunded t1@S {"transactionId":"GPA.1","reason":"voided"}"#,
                #"purchase.linked t1@S {"alias":"play_store/GPA.1"}"#,
            ]
        ),
        (
            #"{"voidedPurchaseNotification":{"purchaseToken":"t1","orderId":"GPA.1","refundType":2}}"#,
            [#"signal.noted t1@S {"name":"voided_in_part"}"#]
        ),
        (
            #"{"voidedPurchaseNotification":{"purchaseToken":"t1","orderId":"GPA.1","refundType":7}}"#,
            [#"signal.noted t1@S {"name":"voided"}"#]
        ),
        (
            #"{"pendingRefundReviewNotification":{"orderId":"GPA.1"}}"#,
            [#"signal.noted store/play_store@S {"name":"pending_refund_review"}"#]
        ),
        (
            #"{"testNotification":{"version":"1.0"}}"#,
            [#"signal.noted store/play_store@S {"name":"test"}"#]
        ),
        ("{}", [#"signal.noted store/play_store@S {"name":"unknown_notification"}"#]),
        (
            #"{"testNotification":{},"subscriptionNotification":{}}"#,
            [#"signal.noted store/play_store@S {"name":"unknown_notification"}"#]
        ),
        (
            #"{"subscriptionNotification":{"notificationType":4}}"#,
            [#"signal.noted store/play_store@S {"name":"unknown_notification"}"#]
        ),
        (
            #"{"subscriptionNotification":{"notificationType":4,"purchaseToken":"t1"},"eventTimeMillis":"1"}"#,
            [
                #"signal.noted t1@S {"name":"notification","detail":"eventTimeMillis is absurd"}"#
            ]
        ),
        (
            #"{"subscriptionNotification":{"notificationType":4,"purchaseToken":"t1"},"eventTimeMillis":1767398400000}"#,
            [
                #"signal.noted t1@S {"name":"notification","detail":"eventTimeMillis is absurd"}"#
            ]
        ),
    ]

    @Test(arguments: others)
    func `of any other kind is its row`(_ content: String, _ expected: [String]) throws {
        let push = try PlaySample.store.get()
            .push(PlaySample.json(content), id: "m1", at: PlaySample.told)
        #expect(try PlaySample.lines(PlaySample.submission(push)) == expected)
    }

    static let refused: [(String, SignalRefusal.Code, String)] = [
        ("null", .malformed, ""),
        (#"{"message":null}"#, .malformed, ""),
        (#"{"message":1}"#, .missingField, "message"),
        (#"{"message":{"data":"e30="}}"#, .missingField, "message.messageId"),
        (#"{"message":{"messageId":7,"data":"e30="}}"#, .invalidValue, "message.messageId"),
        (#"{"message":{"messageId":"","data":"e30="}}"#, .invalidValue, "message.messageId"),
        (#"{"message":{"messageId":"m"}}"#, .missingField, "message.data"),
        (#"{"message":{"messageId":"m","data":"%"}}"#, .missingField, "message.data"),
        (#"{"message":{"messageId":"m","data":"e30"}}"#, .missingField, "message.data"),
        (#"{"message":{"messageId":"m","data":"Ww=="}}"#, .malformed, "message.data"),
        (#"{"message":{"messageId":"m","data":"W10="}}"#, .malformed, "message.data"),
        (
            #"{"message":{"messageId":"m","data":"e30="}}"#, .missingField,
            "message.data.packageName"
        ),
    ]

    @Test(arguments: refused)
    func `that is none is refused for what is wrong`(
        _ text: String,
        _ code: SignalRefusal.Code,
        _ path: String
    ) throws {
        let refusal = try #require(try PlaySample.refusal(PlaySample.json(text)))
        #expect(refusal.code == code)
        #expect(refusal.path == path)
    }

    @Test func `of another app is refused`() throws {
        var store = try PlaySample.store.get()
        store.packageName = "com.example.other"
        let push = store.push(subscription: 4, token: "t1", id: "m1", at: PlaySample.told)
        let refusal = try #require(try PlaySample.refusal(push))
        #expect(refusal.code == .wrongBundle)
        #expect(refusal.path == "message.data.packageName")
    }

    // The reference page's own samples
    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `of Google's reference is read, and its broken samples refused`() throws {
        let read: [(String, String)] = [
            ("rtdn-doc-subscription-purchased.json", "subscription_purchased"),
            ("rtdn-doc-onetime-purchased.json", "one_time_product_purchased"),
            ("rtdn-doc-test.json", "test"),
            ("rtdn-doc-voided-fixed.json", "refunded"),
        ]
        for (file, expected) in read {
            let bytes = try Vectors.bytes("google/rtdn-docs/" + file)
            let push = Self.envelope(bytes)
            let lines = try Self.lines(push, of: bytes)
            #expect(lines.first?.contains(expected) == true, "\(file): \(lines)")
        }
        let broken = try Vectors.bytes("google/rtdn-docs/rtdn-doc-voided-INVALID-JSON.txt")
        #expect(throws: SignalRefusal.self) { try Self.lines(Self.envelope(broken), of: broken) }
        let placeholder = try Vectors.json(
            "google/rtdn-docs/pubsub-envelope-doc-PLACEHOLDER-DATA.json"
        )
        #expect(throws: SignalRefusal.self) { try Self.lines(placeholder, of: []) }
    }

    private static func envelope(_ data: [UInt8]) -> JSONValue {
        .members([
            "message": .members([
                "messageId": "m1", "data": .string(Base64.encode(data.span)),
            ])
        ])
    }

    private static func lines(_ push: JSONValue, of notification: [UInt8]) throws -> [String] {
        let name = (try? JSONValue(parsing: notification))?["packageName"]?.string
        let outcomes = PlayImport.outcomes(
            of: push,
            configuration: PlayConfiguration(packageNames: [Name(name ?? "none")]),
            now: PlaySample.told
        )
        return PlaySample.lines(try outcomes[0].get())
    }
}
