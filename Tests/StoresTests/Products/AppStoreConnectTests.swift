import Crypto
import Encodings
import Entitlements
import Synchronization
import Testing

@testable import Stores

/// What App Store Connect lists of what the App Store sells (row 1.1).
struct `App Store Connect` {
    /// 2026-01-01T00:00:00Z.
    private static let now = Instant(milliseconds: 1_767_225_600_000)
    private static let base = "https://connect.example.com"

    private static let purchases =
        "/v1/apps/42/inAppPurchasesV2?limit=10&include=inAppPurchaseLocalizations"
        + "&limit%5BinAppPurchaseLocalizations%5D=50"
    private static let groups = "/v1/apps/42/subscriptionGroups?limit=200"
    private static let subscriptions =
        "/v1/subscriptionGroups/g1/subscriptions?limit=10&include=subscriptionLocalizations"
        + "&limit%5BsubscriptionLocalizations%5D=50"
    private static let ofPurchase = "?limit=200&include=inAppPurchasePricePoint,territory"
    private static let ofSubscription = "?limit=200&include=subscriptionPricePoint,territory"

    /// A page of a list.
    private static func page(
        _ data: String,
        included: String = "",
        next: String = "null"
    ) -> String {
        #"{"data":[\#(data)],"included":[\#(included)],"links":{"self":"x","next":\#(next)}}"#
    }

    /// A resource that names others.
    private static func resource(
        _ type: String,
        _ id: String,
        _ attributes: String,
        _ links: (name: String, type: String, id: String)...
    ) -> String {
        let relationships = links.map {
            #""\#($0.name)":{"data":{"type":"\#($0.type)","id":"\#($0.id)"}}"#
        }
        return """
            {"type":"\(type)","id":"\(id)","attributes":{\(attributes)},
             "relationships":{\(relationships.joined(separator: ","))}}
            """
    }

    private static func price(
        _ id: String,
        _ territory: String,
        of kind: String = "inAppPurchase",
        attributes: String = #""startDate":null"#
    ) -> String {
        resource(
            kind + "Prices",
            id,
            attributes,
            (kind + "PricePoint", kind + "PricePoints", "p" + id),
            ("territory", "territories", territory)
        )
    }

    private static func point(
        _ id: String,
        _ amount: String,
        of kind: String = "inAppPurchase"
    ) -> String {
        resource(kind + "PricePoints", "p" + id, #""customerPrice":\#(amount),"proceeds":"0""#)
    }

    private static func territory(_ id: String, _ currency: String) -> String {
        resource("territories", id, #""currency":"\#(currency)""#)
    }

    private static let us = territory("USA", "USD")
    private static let jp = territory("JPN", "JPY")

    /// What is answered: one purchase, one subscription.
    private static var whole: [Name: String] {
        [
            Name(purchases): page(
                resource(
                    "inAppPurchases",
                    "i1",
                    #""productId":"life","inAppPurchaseType":"NON_CONSUMABLE","state":"APPROVED""#,
                    ("inAppPurchaseLocalizations", "inAppPurchaseLocalizations", "t1")
                ),
                included: resource(
                    "inAppPurchaseLocalizations",
                    "t1",
                    #""locale":"en-US","name":"For life","description":"All of it""#
                )
            ),
            Name("/v1/inAppPurchasePriceSchedules/i1/manualPrices" + ofPurchase): page(
                price("1", "USA"),
                included: [point("1", "\"49.99\""), us].joined(separator: ",")
            ),
            Name("/v1/inAppPurchasePriceSchedules/i1/automaticPrices" + ofPurchase): page(
                price("2", "USA") + "," + price("3", "JPN"),
                included: [point("2", "\"1\""), point("3", "\"8000\""), us, jp]
                    .joined(separator: ",")
            ),
            Name(groups): page(#"{"type":"subscriptionGroups","id":"g1","attributes":{}}"#),
            Name(subscriptions): page(
                resource(
                    "subscriptions",
                    "s1",
                    #""productId":"pro.month","subscriptionPeriod":"ONE_MONTH","state":"APPROVED""#
                )
            ),
            Name("/v1/subscriptions/s1/prices" + ofSubscription): page(""),
            Name("/v1/subscriptions/s1/introductoryOffers" + ofSubscription): page(""),
        ]
    }

    private static func api(
        _ answers: [Name: String],
        asked: @escaping @Sendable (StoreRequest) -> Void = { _ in }
    ) throws -> AppStoreConnectAPI {
        let (now, base) = (now, base)
        return AppStoreConnectAPI(
            try AppStoreConnectAccess(
                issuerID: "issuer",
                keyID: "K1",
                appID: 42,
                pem: P256.Signing.PrivateKey().pemRepresentation
            ),
            caller: StoreCaller(
                { request in
                    asked(request)
                    let path = String(request.url.dropFirst(base.count))
                    guard let answer = answers[path] else { return StoreResponse(status: 404) }
                    return StoreResponse(status: 200, body: Array(answer.utf8))
                },
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            baseURL: base,
            clock: { now }
        )
    }

    @Test func `tells purchases and subscriptions, with prices of each territory`() async throws {
        let tokens = Mutex<Set<Name>>([])
        let api = try Self.api(Self.whole) { request in
            let token = request.headers["Authorization"] ?? ""
            tokens.withLock { _ = $0.insert(Name(token)) }
        }
        let read = try await api.products()
        let expected = StoreProduct(
            store: "app_store",
            id: "life",
            kind: .nonConsumable,
            texts: [
                StoreProduct.Text(locale: "en-US", name: "For life", description: "All of it")
            ],
            // What was set by hand goes before what Apple made of it.
            prices: [
                StoreProduct.Price(storefront: "US", micros: 49_990_000, currency: "USD"),
                StoreProduct.Price(storefront: "JP", micros: 8_000_000_000, currency: "JPY"),
            ]
        )
        #expect(read.products.first == expected)
        let subscription = try #require(read.products.last)
        #expect(subscription.id == "pro.month" && subscription.kind == .autoRenewable)
        #expect(subscription.period == "P1M" && subscription.group == "g1")
        #expect(read.products.count == 2 && read.passedOver == 0)
        #expect(tokens.withLock { $0.allSatisfy { $0.text.hasPrefix("Bearer ey") } })
    }

    // row 1.5
    @Test func `is told whole or not at all`() async throws {
        for path in Self.whole.keys {
            for answer in ["<html>", "{}", #"{"data":null}"#, nil] {
                var answers = Self.whole
                answers[path] = answer
                let api = try Self.api(answers)
                await #expect(throws: StoreFault.self) { try await api.products() }
            }
        }
    }

    @Test func `is read page by page, below its own address alone`() async throws {
        var answers = Self.whole
        let more = Self.groups + "&cursor=B"
        answers[Self.groups] = Self.page("", next: "\"\(Self.base)\(more)\"")
        answers[more] = Self.page(#"{"type":"subscriptionGroups","id":"g1"}"#)
        #expect(try await Self.api(answers).products().products.count == 2)
        for next in ["https://evil.example.com/v1/x", Self.base + ".evil.com/v1", "/v1/x", ""] {
            answers[Self.groups] = Self.page("", next: "\"\(next)\"")
            let api = try Self.api(answers)
            await #expect(throws: StoreFault.self) { try await api.products() }
        }
    }

    private static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    @Test(arguments: [
        #""productId":"a","state":"MISSING_METADATA""#, #""productId":"a","state":"TOMORROW""#,
        #""productId":"a""#, #""productId":null,"state":"APPROVED""#, #""state":"APPROVED""#,
        #""productId":"","state":"APPROVED""#, #""productId":7,"state":"APPROVED""#,
    ])
    func `has nothing for sale that is not approved, or has no id`(attributes: String) throws {
        var products = AppStoreConnectProducts(today: "2026-01-01")
        let page = try Self.json(
            Self.page(Self.resource("inAppPurchases", "i1", attributes) + #",null,{"id":"i2"}"#)
        )
        #expect(products.purchases(of: page) == [] && products.read.passedOver == 2)
    }

    @Test(arguments: [
        (#""inAppPurchaseType":"CONSUMABLE""#, ProductKind.consumable),
        (#""inAppPurchaseType":"NON_RENEWING_SUBSCRIPTION""#, .nonRenewing),
        (#""inAppPurchaseType":"TOMORROW""#, nil), (#""inAppPurchaseType":null"#, nil),
    ])
    func `says of what kind a purchase is`(type: String, kind: ProductKind?) throws {
        var products = AppStoreConnectProducts(today: "2026-01-01")
        let attributes = #""productId":"a","state":"APPROVED","# + type
        let page = try Self.json(Self.page(Self.resource("inAppPurchases", "i1", attributes)))
        #expect(products.purchases(of: page).map(\.product.kind) == [kind])
    }

    // A price that is not sure, or not today's, is none.
    @Test(arguments: [
        (#""startDate":null"#, "\"4.99\"", true), (#""startDate":"2026-01-01""#, "\"4.99\"", true),
        (#""startDate":"2026-01-02""#, "\"4.99\"", false),
        (#""startDate":null,"endDate":"2025-12-31""#, "\"4.99\"", false),
        (#""startDate":null,"endDate":"2026-01-01""#, "\"4.99\"", true),
        (#""startDate":null,"preserved":true"#, "\"4.99\"", false),
        (#""startDate":null"#, "\"-1\"", false), (#""startDate":null"#, "\"4,99\"", false),
        (#""startDate":null"#, "null", false), (#""startDate":null"#, "\"1e40\"", false),
    ])
    func `has the prices of today`(attributes: String, amount: String, isSold: Bool) throws {
        let products = AppStoreConnectProducts(today: "2026-01-01")
        let page = try Self.json(
            Self.page(
                Self.price("1", "USA", attributes: attributes),
                included: Self.point("1", amount) + "," + Self.us
            )
        )
        let prices = products.prices(of: [page], points: "inAppPurchasePricePoint")
        #expect(prices.map(\.micros) == (isSold ? [4_990_000] : []))
    }

    @Test func `has of a territory the price that began last`() throws {
        let products = AppStoreConnectProducts(today: "2026-01-01")
        let dates = ["null", "\"2025-06-01\"", "\"2024-06-01\"", "\"2027-01-01\""]
        let page = try Self.json(
            Self.page(
                dates.enumerated().map {
                    Self.price("\($0)", "USA", attributes: #""startDate":\#($1)"#)
                }
                .joined(separator: ","),
                included: (0..<4).map { Self.point("\($0)", "\"\($0)\"") }.joined(separator: ",")
                    + "," + Self.us
            )
        )
        let prices = products.prices(of: [page], points: "inAppPurchasePricePoint")
        #expect(prices.map(\.micros) == [1_000_000])
        let bare = try Self.json(Self.page(Self.price("1", "USA"), included: Self.us))
        #expect(products.prices(of: [bare], points: "inAppPurchasePricePoint") == [])
    }

    @Test func `has introductory offers, one of each shape`() throws {
        func offer(_ id: String, _ territory: String, _ attributes: String) -> String {
            Self.price(id, territory, of: "subscription", attributes: attributes)
        }
        let paid = #""offerMode":"PAY_AS_YOU_GO","duration":"ONE_MONTH","numberOfPeriods":3"#
        let free = #""offerMode":"FREE_TRIAL","duration":"ONE_WEEK","numberOfPeriods":1"#
        let page = try Self.json(
            Self.page(
                [
                    offer("1", "USA", paid), offer("2", "USA", free), offer("3", "JPN", paid),
                    offer("4", "JPN", free + #","endDate":"2025-01-01""#),
                    offer("5", "JPN", #""offerMode":"TOMORROW","numberOfPeriods":1"#),
                    offer("6", "JPN", #""offerMode":"FREE_TRIAL","numberOfPeriods":0"#),
                ]
                .joined(separator: ","),
                included: [
                    Self.point("1", "\"0.99\"", of: "subscription"),
                    Self.point("3", "\"100\"", of: "subscription"), Self.us, Self.jp,
                ]
                .joined(separator: ",")
            )
        )
        let expected = [
            StoreProduct.Offer(
                kind: .introductory,
                mode: .payAsYouGo,
                period: "P1M",
                count: 3,
                prices: [
                    StoreProduct.Price(storefront: "US", micros: 990_000, currency: "USD"),
                    StoreProduct.Price(storefront: "JP", micros: 100_000_000, currency: "JPY"),
                ]
            ),
            StoreProduct.Offer(kind: .introductory, mode: .free, period: "P1W"),
        ]
        let offers = AppStoreConnectProducts(today: "2026-01-01").offers(of: [page])
        #expect(offers.count == 2 && Set(offers) == Set(expected))
    }

    @Test func `is asked by a key of its own`() throws {
        let pem = P256.Signing.PrivateKey().pemRepresentation
        func read(_ members: String) throws -> StoresConfiguration {
            let text = #"{"appStore":{"bundleIds":["b"],"appAppleId":42,\#(members)}}"#
            return try StoresConfiguration(parsing: Array(text.utf8)) { name in
                Array((name == "key.p8" ? pem : "no key").utf8)
            }
        }
        let connect = #""issuerId":"i","connectKeyId":"K","connectKeyFile":"key.p8""#
        let alone = try read(connect)
        #expect(alone.appStoreConnectAccess != nil && alone.appStoreAccess == nil)
        let both = try read(connect + #","keyId":"k","privateKeyFile":"key.p8""#)
        #expect(both.appStoreConnectAccess != nil && both.appStoreAccess != nil)
        #expect(try read(#""roots":[]"#).appStoreConnectAccess == nil)
        for bad in [
            #""issuerId":"i","connectKeyId":"K""#, #""issuerId":"i","connectKeyFile":"key.p8""#,
            #""connectKeyId":"K","connectKeyFile":"key.p8""#, #""issuerId":"i""#,
            #""issuerId":"i","connectKeyId":"K","connectKeyFile":"other""#,
            connect + #","keyId":"k""#,
        ] {
            #expect(throws: InputFault.self, "\(bad)") { try read(bad) }
        }
    }
}
