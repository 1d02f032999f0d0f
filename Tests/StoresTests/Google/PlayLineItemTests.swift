import Encodings
import Entitlements
import StoreSimulator
import Testing

@testable import Stores

/// What an answer of the Developer API says of each product of a subscription.
struct `A subscription's line items` {
    /// One item; `end`: a date, nil: it is not had yet.
    private static func item(
        _ product: String,
        until end: String?,
        order: String = "GPA.1",
        _ more: String = ""
    ) -> String {
        let paid = end.map {
            #","expiryTime":"\#($0)T00:00:00Z","latestSuccessfulOrderId":"\#(order)""#
        }
        return #"{"productId":"\#(product)","autoRenewingPlan":{"autoRenewEnabled":true}"#
            + (paid ?? "") + more + "}"
    }

    private static func lines(
        _ state: String,
        after type: Int?,
        _ items: [String],
        _ more: String = ""
    ) throws -> [String] {
        let answer = try PlaySample.subscription(
            state,
            after: type,
            #"{"lineItems":[\#(items.joined(separator: ","))]\#(more)}"#
        )
        return try PlaySample.lines(PlaySample.submission(answer))
    }

    private static let before = #","linkedPurchaseToken":"t0""#

    private static func replaced(by next: String, order: String = "GPA.1") -> String {
        item(
            "pro",
            until: "2026-02-01",
            order: order,
            #","deferredItemReplacement":{"productId":"\#(next)"}"#
        )
    }

    // Stores, rule 3; P13: what takes another's place later is not had yet
    @Test func `are those that are had`() throws {
        let items = [Self.item("basic", until: nil), Self.replaced(by: "basic")]
        let expected = [
            #"purchase.completed t1@P {"transactionId":"GPA.1","productId":"pro","#
                + #""productKind":"auto_renewable","expiresAt":"E","ownership":"purchased","#
                + #""storefront":"DE"}"#,
            #"verification.passed t1@P {"transactionId":"GPA.1","method":"store_api"}"#,
            #"purchase.extended t1@S {"transactionId":"GPA.1","expiresAt":"E"}"#,
            #"purchase.renewal_changed t1@S {"autoRenew":true,"nextProductId":"basic"}"#,
            #"purchase.linked purchase/play_store/t0@S {"alias":"play_store/t1"}"#,
            #"purchase.linked t1@S {"alias":"play_store/GPA.1"}"#,
        ]
        #expect(try Self.lines("ACTIVE", after: 4, items, Self.before) == expected)
        #expect(try Self.lines("ACTIVE", after: 4, items.reversed(), Self.before) == expected)
        // The control: two that are had are two purchases.
        let both = [Self.item("basic", until: "2026-02-01"), items[1]]
        let subjects = try Self.lines("ACTIVE", after: 4, both, Self.before)
            .filter { $0.hasPrefix("purchase.completed") }
            .map { $0.split(separator: "@")[0] }
        #expect(subjects == ["purchase.completed t1/basic", "purchase.completed t1/pro"])
    }

    // P13; Stores, rule 3: each answer may be the first one that is heard
    @Test(arguments: [nil, 1, 2, 3, 4] as [Int?])
    func `are linked with the token before and with their first order`(_ type: Int?) throws {
        let links = [
            #"purchase.linked purchase/play_store/t0@S {"alias":"play_store/t1"}"#,
            #"purchase.linked t1@S {"alias":"play_store/GPA.1"}"#,
        ]
        func linked(_ items: [String]) throws -> [String] {
            try Self.lines("ACTIVE", after: type, items, Self.before)
                .filter { $0.hasPrefix("purchase.linked") }
        }
        #expect(try linked([Self.replaced(by: "basic", order: "GPA.1..3")]) == links)
        let renewed = Self.item("pro", until: "2026-02-01", order: "GPA.1..3")
        #expect(try linked([renewed]) == links)
        // The control: an order of several products names none of them.
        let addon = Self.item("addon", until: "2026-02-01", order: "GPA.1..3")
        #expect(try linked([renewed, addon]) == [links[0]])
    }

    // trap 13
    @Test func `are all of them until they are paid`() throws {
        let items = [Self.item("basic", until: nil), Self.item("pro", until: nil)]
        #expect(
            try Self.lines("PENDING", after: 4, items) == [
                #"purchase.pending t1/basic@S {"productId":"basic"}"#,
                #"purchase.pending t1/pro@S {"productId":"pro"}"#,
            ]
        )
    }

    // P5: a hold is of the whole, whichever of them is not paid
    @Test func `that are paid are paused while the whole is on hold`() throws {
        func told(_ state: String, after type: Int?, _ items: [String]) throws -> [String] {
            try Self.lines(state, after: type, items).filter { line in
                ["paused", "resumed", "retry"].contains { line.hasPrefix("purchase.\($0)") }
            }
        }
        let items = [
            Self.item("addon", until: "2026-01-01"), Self.item("pro", until: "2026-02-01"),
        ]
        #expect(
            try told("ON_HOLD", after: 5, items) == [
                "purchase.retry_started t1/addon@S {}", "purchase.paused t1/pro@S {}",
            ]
        )
        let resumed = ["purchase.resumed t1/pro@S {}"]
        #expect(try told("ACTIVE", after: 1, items) == resumed)
        #expect(try told("CANCELED", after: 3, items) == resumed)
        // The control: of one product there is nothing else to be suspended.
        let one = [items[1]]
        #expect(try told("ON_HOLD", after: 5, one) == ["purchase.retry_started t1@S {}"])
        #expect(try told("ACTIVE", after: 1, one).isEmpty)
    }

    // Stores, rule 7; Storage, "Evidence": an erasure finds the name wherever it stands
    @Test func `sold again outside the app are whose the expired ones were`() throws {
        let outside =
            #""outOfAppPurchaseContext":{"expiredPurchaseToken":"t0","#
            + #""expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"alice"}}"#
        func submission(_ changes: String) throws -> Submission {
            try PlaySample.submission(PlaySample.subscription("ACTIVE", after: 4, changes))
        }
        let again = try submission("{\(outside)}")
        #expect(again.accounts == ["alice"])
        #expect(again.named.contains(.customer("alice")))
        // The control: whom the app named for the purchase itself counts first.
        let own = #""externalAccountIdentifiers":{"obfuscatedExternalAccountId":"ben"}"#
        #expect(try submission("{\(own),\(outside)}").accounts == ["ben"])
        #expect(try submission("{}").accounts.isEmpty)
    }
}
