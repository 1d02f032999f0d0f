import Encodings
import Entitlements
import Testing

@testable import Stores

/// RevenueCat's products and offerings (row 1.3).
struct `RevenueCat's products` {
    private static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    private static func products(_ items: String...) throws -> RevenueCatProducts {
        var products = RevenueCatProducts()
        products.add(products: try json(#"{"items":[\#(items.joined(separator: ","))]}"#))
        return products
    }

    private static func product(
        _ id: String = "pro.month",
        store: String = "app_store",
        more: String =
            #""type":"subscription","subscription":{"duration":"P1M","trial_duration":"P3D"}"#
    ) -> String {
        """
        {"object":"product","id":"prod_\(id)","store_identifier":"\(id)","display_name":"Pro",
         "app_id":"app1","app":{"object":"app","id":"app1","type":"\(store)"},\(more)}
        """
    }

    @Test func `have a name, a kind and a period, and no price`() throws {
        let read = try Self.products(Self.product()).read
        let expected = StoreProduct(
            store: "app_store",
            id: "pro.month",
            kind: .autoRenewable,
            period: "P1M",
            texts: [StoreProduct.Text(locale: "und", name: "Pro")],
            offers: [StoreProduct.Offer(kind: .introductory, mode: .free, period: "P3D")]
        )
        #expect(read.products == [expected] && read.passedOver == 0)
    }

    @Test(arguments: [
        (#""type":"consumable""#, ProductKind.consumable),
        (#""type":"non_consumable""#, .nonConsumable),
        (#""type":"non_renewing_subscription""#, .nonRenewing),
        (#""type":"one_time","one_time":{"is_consumable":true}"#, .consumable),
        (#""type":"one_time","one_time":{"is_consumable":false}"#, .nonConsumable),
        (#""type":"one_time","one_time":{"is_consumable":null}"#, nil),
        (#""type":"tomorrow""#, nil), (#""type":null"#, nil),
    ])
    func `are of the kind that is told`(more: String, kind: ProductKind?) throws {
        #expect(try Self.products(Self.product(more: more)).read.products.map(\.kind) == [kind])
    }

    // P1: a transaction of either store of Apple's is one of `app_store`.
    @Test func `are of the store of their app`() throws {
        let read = try Self.products(
            Self.product("a", store: "mac_app_store"),
            Self.product("b", store: "play_store"),
            Self.product("c", store: "rc_billing"),
            Self.product("d", store: "No Store")
        ).read
        #expect(read.products.map(\.store) == ["app_store", "play_store", "rc_billing"])
        #expect(read.passedOver == 1)
    }

    @Test(arguments: [
        "null", "7", "{}", #"{"store_identifier":"pro"}"#,
        #"{"store_identifier":"pro","app":null,"app_id":"app1"}"#,
        #"{"store_identifier":null,"app":{"type":"app_store"}}"#,
        #"{"store_identifier":"","app":{"type":"app_store"}}"#,
    ])
    func `are none without an id and a store`(item: String) throws {
        let read = try Self.products(item, Self.product()).read
        #expect(read.products.map(\.id) == ["pro.month"])
    }

    @Test func `stand in offerings by their names in stores`() throws {
        var products = try Self.products(
            Self.product("pro.month"),
            Self.product("pro:monthly", store: "play_store")
        )
        products.add(
            offerings: try Self.json(
                """
                {"items":[
                  {"object":"offering","id":"ofrng1","lookup_key":"default","display_name":"Standard",
                   "is_current":true,"packages":{"object":"list","items":[
                     {"object":"package","id":"pkge1","lookup_key":"$rc_monthly","display_name":"Monthly",
                      "products":{"object":"list","items":[
                        {"product":{"id":"prod_pro.month"},"eligibility_criteria":"all"},
                        {"product":{"id":"prod_pro:monthly"}},{"product":{"id":"prod_lost"}},
                        {"product":null}]}},
                     {"object":"package"}]}},
                  {"id":"ofrng2","lookup_key":"empty","packages":null},{"lookup_key":null}]}
                """
            )
        )
        #expect(
            products.offerings == [
                StoreOffering(
                    id: "default",
                    name: "Standard",
                    isCurrent: true,
                    packages: [
                        StoreOffering.Package(
                            id: "$rc_monthly",
                            name: "Monthly",
                            products: ["app_store/pro.month", "play_store/pro:monthly"]
                        )
                    ]
                ),
                StoreOffering(id: "empty", name: nil, isCurrent: false, packages: []),
            ]
        )
    }

    private static func api(
        _ answers: [Name: String],
        projectID: String? = "proj1"
    ) -> RevenueCatAPI {
        let now = RevenueCatAnswerSample.asked
        return RevenueCatAPI(
            key: Array("sk_0123456789abcdef".utf8),
            projectID: projectID,
            baseURL: "https://rc.example.com",
            caller: StoreCaller(
                { request in
                    let path = String(request.url.dropFirst("https://rc.example.com".count))
                    guard let answer = answers[path] else { return StoreResponse(status: 404) }
                    return StoreResponse(status: 200, body: Array(answer.utf8))
                },
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { now }
        )
    }

    private static func list(_ items: String, next: String = "null") -> String {
        #"{"object":"list","items":[\#(items)],"next_page":\#(next)}"#
    }

    private static let offerings: Name =
        "/v2/projects/proj1/offerings?expand=items.package.product"

    @Test func `are read page by page, and told whole or not at all`() async throws {
        let next = "/v2/projects/proj1/products?expand=items.app&starting_after=prod_a"
        let first: Name = "/v2/projects/proj1/products?expand=items.app"
        let whole: [Name: String] = [
            first: Self.list(Self.product("a"), next: "\"\(next)\""),
            Name(next): Self.list(Self.product("b")), Self.offerings: Self.list(""),
        ]
        let read = try await Self.api(whole).products().read
        #expect(read.products.map(\.id) == ["a", "b"])
        // row 1.5
        for path in whole.keys {
            var answers = whole
            answers[path] = "<html>"
            await #expect(throws: StoreFault.self) { try await Self.api(answers).products() }
        }
        await #expect(throws: StoreFault.self) {
            try await Self.api(whole, projectID: nil).products()
        }
    }
}
