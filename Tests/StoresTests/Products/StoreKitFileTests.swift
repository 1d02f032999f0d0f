import Encodings
import Entitlements
import Testing

@testable import Stores

/// StoreKit configurations of Xcode (row 1.1).
struct `A StoreKit configuration` {
    private static func products(_ text: String) throws -> ReadProducts {
        try StoreKitFile.products(in: Array(text.utf8))
    }

    /// A file with one subscription of a group.
    private static func file(
        subscription: String,
        settings: String = #"{"_storefront":"USA"}"#
    ) -> String {
        """
        {"identifier":"F","nonRenewingSubscriptions":[],"products":[],"settings":\(settings),
         "subscriptionGroups":[{"id":"21400001","localizations":[],"name":"Pro",
           "subscriptions":[\(subscription)]}],"version":{"major":4,"minor":0}}
        """
    }

    /// A subscription with some members in place of its own.
    private static func subscription(_ more: String = "") -> String {
        """
        {"displayPrice":"4.99","familyShareable":false,"groupNumber":1,"internalID":"I1",
         "localizations":[{"description":"All of it","displayName":"Pro","locale":"en_US"}],
         "productID":"pro.month","recurringSubscriptionPeriod":"P1M","referenceName":"Pro monthly",
         "subscriptionGroupID":"21400001","type":"RecurringSubscription"\(more)}
        """
    }

    @Test func `tells a subscription with names, price, period, group and offers`() throws {
        let offers = #"""
            ,"introductoryOffer":{"internalID":"I2","numberOfPeriods":1,"paymentMode":"free",
              "subscriptionPeriod":"P1W","displayPrice":"0"},
             "adHocOffers":[{"internalID":"I3","offerID":"come.back","numberOfPeriods":3,
              "paymentMode":"payAsYouGo","subscriptionPeriod":"P1M","displayPrice":"1.99"}],
             "codeOffers":[{"internalID":"I4","offerID":"CODE","paymentMode":"payUpFront",
              "subscriptionPeriod":"P6M","displayPrice":"9.99"}],
             "winbackOffers":[{"offerID":"win","paymentMode":"free","subscriptionPeriod":"P1M"}]
            """#
        let read = try Self.products(Self.file(subscription: Self.subscription(offers)))
        func price(_ micros: Int64) -> [StoreProduct.Price] {
            [StoreProduct.Price(storefront: "US", micros: micros, currency: "USD")]
        }
        let expected = StoreProduct(
            store: "app_store",
            id: "pro.month",
            kind: .autoRenewable,
            period: "P1M",
            group: "21400001",
            texts: [StoreProduct.Text(locale: "en-US", name: "Pro", description: "All of it")],
            prices: price(4_990_000),
            offers: [
                StoreProduct.Offer(kind: .introductory, mode: .free, period: "P1W"),
                StoreProduct.Offer(
                    id: "come.back",
                    kind: .promotional,
                    mode: .payAsYouGo,
                    period: "P1M",
                    count: 3,
                    prices: price(1_990_000)
                ),
                StoreProduct.Offer(
                    id: "CODE",
                    kind: .code,
                    mode: .payUpFront,
                    period: "P6M",
                    prices: price(9_990_000)
                ),
                StoreProduct.Offer(id: "win", kind: .winBack, mode: .free, period: "P1M"),
            ]
        )
        #expect(read.products == [expected] && read.passedOver == 0)
    }

    @Test func `tells every kind of product`() throws {
        let read = try Self.products(
            """
            {"products":[{"productID":"coins","type":"Consumable","displayPrice":"0.99"},
               {"productID":"life","type":"NonConsumable","displayPrice":49},
               {"productID":"odd","type":"Tomorrow"}],
             "nonRenewingSubscriptions":[{"productID":"season","type":"NonRenewingSubscription"}],
             "subscriptionGroups":[{"id":"g","subscriptions":[{"productID":"sub"}]}]}
            """
        )
        let kinds = read.products.map(\.kind)
        #expect(kinds == [.consumable, .nonConsumable, nil, .nonRenewing, .autoRenewable])
        let prices = read.products.map { $0.prices.first?.micros }
        #expect(prices == [990_000, 49_000_000, nil, nil, nil])
    }

    @Test(arguments: [
        (#"{"_storefront":"JPN"}"#, "JP", "JPY"), (#"{"_storefront":"DEU"}"#, "DE", "EUR"),
        ("{}", "US", "USD"), ("null", "US", "USD"),
    ])
    func `has prices in the currency of its storefront`(
        settings: String,
        country: String,
        currency: String
    ) throws {
        let file = Self.file(subscription: Self.subscription(), settings: settings)
        let price = try #require(try Self.products(file).products.first?.prices.first)
        #expect(price.storefront == country && price.currency == currency)
    }

    // A price that is not sure is none: a paywall would show it.
    @Test(arguments: [
        "\"-4.99\"", "\"4,99\"", "\"\"", "\"free\"", "null", "true", "\"1e30\"",
        "\"99999999999999999999999999\"", "[4.99]", "\"<b>4.99</b>\"", "\"0x10\"", "\"NaN\"",
    ])
    func `has no price where the amount is none`(amount: String) throws {
        let file = #"{"products":[{"productID":"life","displayPrice":\#(amount)}]}"#
        let product = try #require(try Self.products(file).products.first)
        #expect(product.prices == [])
        let control = try Self.products(
            #"{"products":[{"productID":"life","displayPrice":"4.990"}]}"#
        )
        #expect(control.products.first?.prices.first?.micros == 4_990_000)
    }

    @Test func `has no price where its country's currency is not known`() throws {
        for settings in [#"{"_storefront":"ATA"}"#, #"{"_storefront":"Z"}"#] {
            let file = Self.file(subscription: Self.subscription(), settings: settings)
            #expect(try Self.products(file).products.map(\.prices) == [[]])
        }
    }

    @Test(arguments: [
        #""locale":"en_US","displayName":"""#, #""locale":"en_US","displayName":null"#,
        #""locale":"","displayName":"Pro""#, #""locale":"english please","displayName":"Pro""#,
        #""displayName":"Pro""#, #""locale":"en","displayName":"two\nlines""#, #""locale":5"#,
    ])
    func `passes over a text that cannot be shown`(text: String) throws {
        let file = """
            {"products":[{"productID":"life","localizations":[{\(text)},
              {"locale":"x-piglatin","displayName":"<i>Ife</i>","description":""},
              {"locale":"X-Piglatin","displayName":"again"}]}]}
            """
        // Markup is text: whoever shows it escapes it.
        let shown = StoreProduct.Text(locale: "x-piglatin", name: "<i>Ife</i>")
        #expect(try Self.products(file).products.map(\.texts) == [[shown]])
    }

    @Test(arguments: [
        #"{"paymentMode":"barter","subscriptionPeriod":"P1W"}"#, #"{"subscriptionPeriod":"P1W"}"#,
        #"{"paymentMode":"free","numberOfPeriods":0}"#,
        #"{"paymentMode":"free","numberOfPeriods":-1}"#,
        #"{"paymentMode":"free","numberOfPeriods":99999999999999999999}"#, "null", "[]", "7",
    ])
    func `leaves out an offer that it does not understand`(offer: String) throws {
        let file = Self.file(subscription: Self.subscription(#","introductoryOffer":\#(offer)"#))
        #expect(try Self.products(file).products.map(\.offers) == [[]])
        let control = Self.file(
            subscription: Self.subscription(#","introductoryOffers":[{"paymentMode":"free"}]"#)
        )
        #expect(try Self.products(control).products.first?.offers.count == 1)
    }

    @Test func `has each product once, and counts what is none`() throws {
        let read = try Self.products(
            """
            {"products":[{"productID":"life","displayPrice":"1"},{"productID":"life","displayPrice":"2"},
              {"productID":null},{"productID":""},{"referenceName":"x"},{"productID":17}],
             "subscriptionGroups":[{"subscriptions":null},{"subscriptions":[{"productID":"sub"}]}]}
            """
        )
        #expect(read.products.map(\.id) == ["life", "sub"])
        #expect(read.products.first?.prices.first?.micros == 1_000_000)
        #expect(read.passedOver == 5)
    }

    @Test(arguments: [
        "", "<!DOCTYPE html><html></html>", "[]", "{}", "null", #"{"products":{}}"#,
        #"{"products":[{"productID":"life""#, #"{"objects":[]}"#,
    ])
    func `is refused where it is another file`(text: String) throws {
        #expect(throws: InputFault.self) { try Self.products(text) }
        #expect(try Self.products(#"{"products":[]}"#).products == [], "the control")
    }

    @Test(arguments: [
        ("P1M", true), ("P4W2D", true), ("P1Y", true), ("P7D", true), ("", false), ("P", false),
        ("1M", false), ("P0D", false), ("PT1H", false), ("P1M1Y", false), ("P1", false),
        ("P1X", false), ("P-1M", false), ("P111111111111111111111111D", false), ("p1m", false),
    ])
    func `has periods as ISO 8601 writes them`(text: String, isPeriod: Bool) {
        #expect(SubscriptionPeriod.of(text) == (isPeriod ? text : nil))
    }
}
