import Entitlements
import Stores
import Testing

struct `RevenueCat's fields` {
    // trap 17; Stores, rule 8
    @Test(
        arguments: [
            ("0.1", 100_000), ("4.99", 4_990_000), ("550", 550_000_000), ("-9.99", -9_990_000),
            ("1e2", 100_000_000), ("1E-2", 10_000), ("0", 0), ("-0.0", 0), ("5.233", 5_233_000),
            ("5.2330000001", 5_233_000),  // more than six decimals: to the nearest
            ("13.270000000000001", 13_270_000), ("0.0000005", 0), ("0.0000015", 2),
            ("0.00000050001", 1), ("1e-400", 0), ("0e999999999999", 0),
            ("1000000000000", 1_000_000_000_000_000_000), ("1000000000000.000001", nil),
            ("1e13", nil), ("1e999999999999999999999", nil), ("99999999999999999999", nil),
        ] as [(String, Int64?)]
    )
    func `give exact prices`(_ text: String, _ micros: Int64?) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event(
                "RENEWAL",
                #""price_in_purchased_currency":\#(text),"currency":"JPY""#
            )
        )
        let period = try #require(submission.events.first)
        #expect(period.data.integer(.priceMicros) == micros)
        #expect(period.data.text(.currencyCode) == micros.map { _ in "JPY" })
    }

    @Test(
        arguments: [
            (#""price":1.5,"currency":"EUR""#, "USD"),
            (#""price":1.5,"price_in_purchased_currency":null,"currency":"EUR""#, "USD"),
            (#""price":1.5,"price_in_purchased_currency":1.4"#, "USD"),
            (#""price":1.5,"price_in_purchased_currency":1.4,"currency":"eur""#, "USD"),
            (#""price":"1.5""#, nil), (#""price_in_purchased_currency":1.4"#, nil),
        ] as [(String, String?)]
    )
    func `fall back to the price in dollars`(_ fields: String, _ currency: String?) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event("RENEWAL", fields)
        )
        #expect(submission.events.first?.data.text(.currencyCode) == currency)
    }

    // trap 2; Stores, rule 6
    @Test(arguments: [
        #""purchased_at_ms":0"#, #""purchased_at_ms":7258118400000"#, #""purchased_at_ms":null"#,
        #""purchased_at_ms":"x""#, #""expiration_at_ms":0"#, #""expiration_at_ms":null"#,
        #""grace_period_expiration_at_ms":7258118400000"#, #""auto_resume_at_ms":-1"#,
        #""product_id":"""#, #""transaction_id":7"#, #""store":"No store""#, #""store":null"#,
        #""transaction_id":null,"original_transaction_id":null"#,
    ])
    func `that cannot be used make the signal a note`(_ fields: String) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event("RENEWAL", fields)
        )
        #expect(submission.events.map(\.kind) == [.signalNoted])
        #expect(submission.events.first?.data.text(.name) == "renewal")
        #expect(submission.events.first?.data.text(.detail) != nil)
        #expect(submission.accounts.isEmpty)
    }

    @Test(arguments: [
        "APP_STORE": "app_store", "MAC_APP_STORE": "app_store", "PLAY_STORE": "play_store",
        "AMAZON": "amazon", "STRIPE": "stripe", "RC_BILLING": "rc_billing", "ROKU": "roku",
        "PADDLE": "paddle", "TEST_STORE": "test_store", "PROMOTIONAL": "promotional",
        "GALAXY_2": "galaxy_2",
    ])
    func `name the store`(_ sent: String, _ store: String) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event("RENEWAL", #""store":"\#(sent)""#)
        )
        let name = PurchaseName(store: store, originalID: "o1")
        #expect(submission.events.first?.subject == .purchase(name))
        let kind = submission.events.first?.data.text(.productKind)
        #expect(kind == (store == "promotional" ? "non_renewing" : "auto_renewable"))
    }

    // The second event of signal `e` is recorded as `e#2`.
    @Test(arguments: [
        "e": "e", "e#2": "e#2#1", "e#2#1": "e#2#1#1", "#7": "#7#1", "e#": "e#", "e2": "e2",
        "e#x2": "e#x2",
        "e#2 ": "e#2 ",
    ])
    func `tell a signal from a later event of another`(_ sent: String, _ recorded: String) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event("RENEWAL", #""id":"\#(sent)""#)
        )
        #expect(submission.id == recorded && submission.events.count > 1)
    }

    // trap 3
    @Test(
        arguments: [
            (#""environment":"SANDBOX""#, .sandbox, .purchaseRenewed),
            (#""environment":"PRODUCTION""#, .production, .purchaseRenewed),
            (#""environment":null"#, .production, .purchaseRenewed),
            (#""environment":null,"purchase_environment":"SANDBOX""#, .sandbox, .purchaseRenewed),
            (#""environment":"XCODE""#, .production, .signalNoted),
        ] as [(String, StoreEnvironment, EventKind)]
    )
    func `name the world`(
        _ field: String,
        _ environment: StoreEnvironment,
        _ kind: EventKind
    ) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event("RENEWAL", field)
        )
        #expect(submission.environment == environment)
        #expect(submission.events.first?.kind == kind)
    }

    @Test func `name a purchase by its transaction if no original one is given`() throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event("RENEWAL", #""original_transaction_id":null"#)
        )
        let name = PurchaseName(store: "play_store", originalID: "t2")
        #expect(submission.events.first?.subject == .purchase(name))
    }

    @Test func `never make a type's name too long`() throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event(String(repeating: "LONG_", count: 1000))
        )
        #expect(submission.events.first?.data.text(.name)?.utf8.count ?? 0 <= 256)
    }
}
