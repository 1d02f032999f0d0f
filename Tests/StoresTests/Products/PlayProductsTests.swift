import Encodings
import Entitlements
import StoreSimulator
import Synchronization
import Testing

@testable import Stores

/// What Google Play sells, as its Developer API lists it (row 1.1).
struct `Products of Google Play` {
    private static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    private static func plan(
        _ id: String = "monthly",
        state: String = "ACTIVE",
        type: String = #""autoRenewingBasePlanType":{"billingPeriodDuration":"P1M"}"#,
        regions: String = """
        {"regionCode":"US","newSubscriberAvailability":true,
         "price":{"currencyCode":"USD","units":"4","nanos":990000000}}
        """
    ) -> String {
        """
        {"basePlanId":"\(id)","state":"\(state)",\(type),"regionalConfigs":[\(regions)]}
        """
    }

    private static func page(_ plans: String..., id: String = "\"pro\"") -> String {
        """
        {"subscriptions":[{"packageName":"com.example.app","productId":\(id),
          "listings":[{"languageCode":"en-US","title":"Pro","description":"All of it","benefits":["x"]},
                      {"languageCode":"ja-JP","title":"プロ"}],
          "basePlans":[\(plans.joined(separator: ","))]}]}
        """
    }

    private static func read(_ page: String) throws -> ReadProducts {
        var products = PlayProducts()
        products.add(subscriptions: try json(page))
        return products.read
    }

    @Test func `are base plans of subscriptions, with prices by country`() throws {
        let regions = #"""
            {"regionCode":"US","newSubscriberAvailability":true,
              "price":{"currencyCode":"USD","units":"4","nanos":990000000}},
            {"regionCode":"JP","newSubscriberAvailability":true,"price":{"currencyCode":"JPY","units":"800"}},
            {"regionCode":"DE","price":{"currencyCode":"EUR","units":"5"}}
            """#
        let read = try Self.read(Self.page(Self.plan(regions: regions)))
        let expected = StoreProduct(
            store: "play_store",
            id: "pro",
            plan: "monthly",
            kind: .autoRenewable,
            period: "P1M",
            texts: [
                StoreProduct.Text(locale: "en-US", name: "Pro", description: "All of it"),
                StoreProduct.Text(locale: "ja-JP", name: "プロ"),
            ],
            // Germany: absent availability is false.
            prices: [
                StoreProduct.Price(storefront: "US", micros: 4_990_000, currency: "USD"),
                StoreProduct.Price(storefront: "JP", micros: 800_000_000, currency: "JPY"),
            ]
        )
        #expect(read.products == [expected] && read.passedOver == 0)
    }

    @Test(arguments: [
        (
            #""autoRenewingBasePlanType":{"billingPeriodDuration":"P1Y"}"#,
            ProductKind.autoRenewable, "P1Y"
        ),
        (#""installmentsBasePlanType":{"billingPeriodDuration":"P1M"}"#, .autoRenewable, "P1M"),
        (#""prepaidBasePlanType":{"billingPeriodDuration":"P3M"}"#, .nonRenewing, "P3M"),
        (#""tomorrowsBasePlanType":{"billingPeriodDuration":"P3M"}"#, nil, nil),
    ])
    func `are of the kind that their plan is`(
        type: String,
        kind: ProductKind?,
        period: String?
    ) throws {
        let product = try #require(try Self.read(Self.page(Self.plan(type: type))).products.first)
        #expect(product.kind == kind && product.period == period)
    }

    @Test(arguments: ["DRAFT", "INACTIVE", "STATE_UNSPECIFIED", "TOMORROW", ""])
    func `are none where a plan is not for sale`(state: String) throws {
        let read = try Self.read(
            Self.page(Self.plan(state: state), Self.plan("yearly"), Self.plan("yearly"))
        )
        #expect(read.products.map(\.plan) == ["yearly"] && read.passedOver == 2)
    }

    @Test func `are none without an id, or without plans`() throws {
        for page in [
            Self.page(Self.plan(), id: "null"), Self.page(Self.plan(), id: "7"), Self.page(),
            Self.page(Self.plan("")),
        ] {
            let read = try Self.read(page)
            #expect(read.products == [] && read.passedOver == 1, "\(page)")
        }
    }

    // A price that is not sure is none.
    @Test(arguments: [
        #"{"currencyCode":"USD","units":"-4"}"#, #"{"currencyCode":"USD","nanos":-1}"#,
        #"{"currencyCode":"USD","units":"99999999999999999999"}"#, #"{"units":"4"}"#, "null",
        "4.99", #"{"currencyCode":"usd","units":"4"}"#,
        #"{"currencyCode":"USD","units":"4","nanos":1000000000}"#,
    ])
    func `have no price where an amount is none`(price: String) throws {
        let region = #"{"regionCode":"US","newSubscriberAvailability":true,"price":\#(price)}"#
        #expect(try Self.read(Self.page(Self.plan(regions: region))).products.map(\.prices) == [[]])
    }

    @Test func `are purchase options of one-time products`() throws {
        var products = PlayProducts()
        products.add(
            oneTimeProducts: try Self.json(
                """
                {"oneTimeProducts":[{"productId":"coins","listings":[{"languageCode":"en-US","title":"Coins"}],
                  "purchaseOptions":[
                    {"purchaseOptionId":"buy","state":"ACTIVE","buyOption":{"legacyCompatible":true},
                     "regionalPricingAndAvailabilityConfigs":[
                       {"regionCode":"US","availability":"AVAILABLE","price":{"currencyCode":"USD","nanos":990000000}},
                       {"regionCode":"FR","availability":"NO_LONGER_AVAILABLE","price":{"currencyCode":"EUR","units":"1"}}]},
                    {"purchaseOptionId":"rent","state":"ACTIVE","rentOption":{"rentalPeriod":"P2D"}},
                    {"purchaseOptionId":"old","state":"INACTIVE_PUBLISHED","buyOption":{}}]}]}
                """
            )
        )
        let read = products.read
        #expect(read.products.map(\.names) == [["coins", "coins:buy"], ["coins", "coins:rent"]])
        // Google does not say whether it is used up.
        #expect(read.products.map(\.kind) == [nil, .nonRenewing])
        #expect(read.products.map(\.period) == [nil, "P2D"])
        let price = StoreProduct.Price(storefront: "US", micros: 990_000, currency: "USD")
        #expect(read.products.map(\.prices) == [[price], []] && read.passedOver == 1)
    }

    private static let offers = """
        {"subscriptionOffers":[
          {"productId":"pro","basePlanId":"monthly","offerId":"welcome","state":"ACTIVE",
           "targeting":{"acquisitionRule":{"scope":{}}},
           "phases":[
             {"recurrenceCount":1,"duration":"P1W","regionalConfigs":[{"regionCode":"US","free":{}}]},
             {"recurrenceCount":3,"duration":"P1M","regionalConfigs":[
               {"regionCode":"US","price":{"currencyCode":"USD","units":"1","nanos":990000000}},
               {"regionCode":"JP","relativeDiscount":0.5}]}]},
          {"productId":"pro","basePlanId":"monthly","offerId":"draft","state":"DRAFT",
           "phases":[{"recurrenceCount":1,"duration":"P1W","regionalConfigs":[{"regionCode":"US","free":{}}]}]},
          {"productId":"pro","basePlanId":"unknown","offerId":"lost","state":"ACTIVE",
           "phases":[{"recurrenceCount":1,"duration":"P1W","regionalConfigs":[{"regionCode":"US","free":{}}]}]},
          {"productId":"pro","basePlanId":"monthly","offerId":"odd","state":"ACTIVE",
           "phases":[{"recurrenceCount":-1,"regionalConfigs":[{"free":{}}]},{"duration":"P1W"}]}]}
        """

    @Test func `have the phases of their offers, in order`() throws {
        var products = PlayProducts()
        products.add(subscriptions: try Self.json(Self.page(Self.plan())))
        products.add(offers: try Self.json(Self.offers))
        let expected = [
            StoreProduct.Offer(id: "welcome", kind: .introductory, mode: .free, period: "P1W"),
            StoreProduct.Offer(
                id: "welcome",
                kind: .introductory,
                mode: .payAsYouGo,
                period: "P1M",
                count: 3,
                prices: [StoreProduct.Price(storefront: "US", micros: 1_990_000, currency: "USD")]
            ),
        ]
        #expect(products.read.products.map(\.offers) == [expected])
    }

    @Test(arguments: [
        "{}", "[]", "null", #"{"subscriptions":null}"#, #"{"subscriptions":[null,7]}"#,
    ])
    func `are none in a page of another shape`(page: String) throws {
        #expect(try Self.read(page).products == [])
    }
}

/// Asking Google Play for its products.
struct `The Play Developer API's lists of products` {
    /// Answers each path from a table; `requests`: what was asked.
    private static func api(
        _ answers: [Name: String],
        _ requests: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> PlayDeveloperAPI {
        let now = PlaySample.told
        let base = "https://play.example.com/androidpublisher/v3/applications/com.example.app/"
        return PlayDeveloperAPI(
            try #require(ServiceAccount(json: SimulatedPlayAPI().serviceAccount)),
            caller: StoreCaller(
                { request in
                    guard request.method == .get else {
                        let token = #"{"access_token":"a","expires_in":3600}"#
                        return StoreResponse(status: 200, body: Array(token.utf8))
                    }
                    let path = String(request.url.dropFirst(base.count))
                    requests(path)
                    guard let answer = answers[path] else { return StoreResponse(status: 404) }
                    return StoreResponse(status: 200, body: Array(answer.utf8))
                },
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            baseURL: "https://play.example.com",
            clock: { now }
        )
    }

    private static func page(of id: String, next: String? = nil) -> String {
        """
        {"subscriptions":[{"productId":"\(id)","basePlans":[{"basePlanId":"m","state":"ACTIVE"}]}],
         "nextPageToken":"\(next ?? "")"}
        """
    }

    private static let offers = "subscriptions/-/basePlans/-/offers?pageSize=5"

    @Test func `are read page by page`() async throws {
        let asked = Mutex<[String]>([])
        let api = try Self.api([
            "subscriptions?pageSize=5": Self.page(of: "one", next: "a/b"),
            "subscriptions?pageSize=5&pageToken=a%2Fb": Self.page(of: "two"),
            "oneTimeProducts?pageSize=5": "{}", Name(Self.offers): "{}",
        ]) { path in asked.withLock { $0.append(path) } }
        let read = try await api.products(of: "com.example.app")
        #expect(read.products.map(\.id) == ["one", "two"])
        #expect(asked.withLock(\.count) == 4)
    }

    // row 1.5: half of the products would look like all of them.
    @Test func `are told whole or not at all`() async throws {
        let whole: [Name: String] = [
            "subscriptions?pageSize=5": Self.page(of: "one"), "oneTimeProducts?pageSize=5": "{}",
            Name(Self.offers): "{}",
        ]
        for (path, answer) in [
            ("subscriptions?pageSize=5", "<html>"), ("oneTimeProducts?pageSize=5", "{\"oneTime"),
            (Self.offers, "[]"), ("subscriptions?pageSize=5", Self.page(of: "one", next: "lost")),
        ] {
            var answers = whole
            answers[path] = answer
            let api = try Self.api(answers)
            await #expect(throws: StoreFault.self) { try await api.products(of: "com.example.app") }
        }
        #expect(try await Self.api(whole).products(of: "com.example.app").products.count == 1)
    }
}
