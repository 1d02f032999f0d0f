import DurableFiles
import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import LedgerOperations

/// What is kept of stores' products, as it is asked for (rows 1.1 to 1.4).
struct `Kept products` {
    private static let loaded = Instant(milliseconds: 1_767_225_600_000)
    private static let catalog = #"""
        {"tiers":["free","pro"],"features":[{"id":"export"},{"id":"scan","level":"free"}],
         "products":[{"id":"pro.month","kind":"auto_renewable","unlocks":{"tier":"pro"},
                      "stores":{"play_store":["pro:monthly","pro"]}},
                     {"id":"coins","kind":"consumable","unlocks":{"features":[]}},
                     {"id":"lost","kind":"non_consumable","unlocks":{"all":true}}]}
        """#

    private static func product(
        _ id: String,
        in store: String = "app_store",
        plan: String? = nil,
        name: String = "Name",
        prices: [StoreProduct.Price] = []
    ) -> StoreProduct {
        StoreProduct(
            store: store,
            id: id,
            plan: plan,
            texts: [
                StoreProduct.Text(locale: "en-US", name: name),
                StoreProduct.Text(locale: "ja", name: "ja " + name),
            ],
            prices: prices
        )
    }

    private static func keep(
        _ products: [StoreProduct],
        of source: ProductSource,
        in files: ProductFiles,
        at instant: Instant = loaded
    ) throws {
        let isKept = try files.keep(
            ProductDocument(
                source: source,
                origin: .api,
                loadedAt: instant,
                passedOver: 0,
                products: products,
                offerings: []
            )
        )
        #expect(isKept)
    }

    private static func view(
        _ locale: String? = nil,
        _ storefront: String? = nil,
        after seconds: Int64 = 0
    ) -> KeptProducts.View {
        KeptProducts.View(
            locale: locale.flatMap { LanguageTag($0) },
            storefront: storefront.flatMap { Storefront($0) },
            now: loaded.advanced(byMilliseconds: seconds * 1000)
        )
    }

    private static func offered(
        _ id: String,
        stores: [Keyed<[String]>] = [],
        text: JSONValue = .null
    ) -> OfferingAnswer {
        OfferingAnswer(
            feature: nil,
            at: loaded,
            products: [
                OfferingAnswer.Product(
                    id: id,
                    kind: .autoRenewable,
                    tier: nil,
                    features: [],
                    stores: stores,
                    locale: nil,
                    text: text
                )
            ]
        )
    }

    private static func with(_ body: (ProductFiles, KeptProducts) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let files = ProductFiles(ofLedgerAt: folder)
            try body(files, KeptProducts(files))
        }
    }

    private static let prices = [
        StoreProduct.Price(storefront: "US", micros: 4_990_000, currency: "USD"),
        StoreProduct.Price(storefront: "JP", micros: 800_000_000, currency: "JPY"),
    ]

    @Test func `are joined to what is offered, with price and age`() throws {
        try Self.with { files, kept throws in
            try Self.keep([Self.product("pro", prices: Self.prices)], of: .appStore, in: files)
            var answer = Self.offered("pro")
            try kept.join(&answer, Self.view("ja-JP", "JPN", after: 90))
            let shown = try #require(answer.products.first?.metadata.first)
            #expect(shown.name == "ja Name" && shown.locale == "ja")
            #expect(shown.ageSeconds == 90 && shown.loadedAt == Self.loaded)
            let price = try #require(shown.price)
            #expect(price.micros == 800_000_000 && price.currency == "JPY")
            #expect(
                price.text.contains("800") && !price.text.contains("800.00"),
                "yen have no decimals"
            )
            try kept.join(&answer, Self.view("en", "US"))
            #expect(answer.products.first?.metadata.first?.price?.text == "$4.99")
            for storefront in [nil, "FR"] {
                try kept.join(&answer, Self.view("en", storefront))
                #expect(answer.products.first?.metadata.map(\.price) == [nil])
            }
        }
    }

    // The store's price is the fact, the catalog's words are its makers'.
    @Test func `give way to the catalog's own words`() throws {
        try Self.with { files, kept throws in
            try Self.keep([Self.product("pro")], of: .appStore, in: files)
            for (text, name) in [
                (#"{"title":"Ours","price":"cheap"}"#, "Ours"), (#"{"title":7}"#, "Name"),
                ("null", "Name"),
            ] {
                var answer = Self.offered("pro", text: try JSONValue(parsing: Array(text.utf8)))
                try kept.join(&answer, Self.view())
                let product = try JSONValue(parsing: AnswerText(answer).bytes)["products"]?.array?
                    .first
                #expect(product?["name"]?.string == name)
                #expect(product?["metadata"]?.array?.first?["name"] == "Name")
            }
        }
    }

    // K9
    @Test func `are found by the ids that the catalog gives for a store`() throws {
        try Self.with { files, kept throws in
            try Self.keep(
                [
                    Self.product("pro", in: "play_store", plan: "monthly"),
                    Self.product("pro", in: "play_store", plan: "yearly"),
                ],
                of: .playStore,
                in: files
            )
            func plans(_ stores: [Keyed<[String]>]) throws -> [String?] {
                var answer = Self.offered("pro", stores: stores)
                try kept.join(&answer, Self.view())
                return answer.products.flatMap(\.metadata).map(\.plan)
            }
            #expect(try plans([]) == ["monthly", "yearly"])
            #expect(try plans([Keyed("play_store", ["pro:yearly"])]) == ["yearly"])
            #expect(
                try plans([Keyed("play_store", ["pro:yearly", "pro"])]) == ["yearly", "monthly"]
            )
            #expect(try plans([Keyed("play_store", [])]).isEmpty, "not sold there")
            #expect(try plans([Keyed("app_store", ["x"])]) == ["monthly", "yearly"])
        }
    }

    // row 1.3
    @Test func `are RevenueCat's where a store does not tell itself`() throws {
        try Self.with { files, kept throws in
            try Self.keep([Self.product("a", name: "Apple's")], of: .appStore, in: files)
            try Self.keep(
                [
                    Self.product("a", name: "RevenueCat's"),
                    Self.product("b", name: "RevenueCat's"),
                    Self.product("a", in: "amazon", name: "Amazon's"),
                ],
                of: .revenueCat,
                in: files
            )
            func names(_ id: String) throws -> [String?] {
                var answer = Self.offered(id)
                try kept.join(&answer, Self.view())
                return answer.products.flatMap(\.metadata).map(\.name)
            }
            #expect(try names("a") == ["Apple's", "Amazon's"])
            #expect(try names("b") == ["RevenueCat's"])
            #expect(try names("c") == [])
        }
    }

    @Test func `are read again once they are others`() throws {
        try Self.with { files, kept throws in
            func names() throws -> [String?] {
                var answer = Self.offered("pro")
                try kept.join(&answer, Self.view())
                return answer.products.flatMap(\.metadata).map(\.name)
            }
            #expect(try names() == [])
            for name in ["One", "Two", "Six"] {
                try Self.keep([Self.product("pro", name: name)], of: .appStore, in: files)
                #expect(try names() == [name])
                #expect(try names() == [name])
            }
        }
    }

    // row 1.5
    @Test func `say what is damaged, and what failed since`() throws {
        try withTemporaryFolder { folder throws in
            let files = ProductFiles(ofLedgerAt: folder)
            let kept = KeptProducts(files)
            func source() throws -> ProductsAnswer.Source {
                let answer = try kept.listing(nil, only: .appStore, Self.view(after: 60))
                return try #require(answer.sources.first)
            }
            #expect(try source().loadedAt == nil && !source().isDamaged)
            try Self.keep([Self.product("pro")], of: .appStore, in: files)
            #expect(try source().products == 1 && source().ageSeconds == 60)
            for (seconds, isTold) in [(Int64(-1), false), (1, true)] {
                let at = Self.loaded.advanced(byMilliseconds: seconds * 1000)
                let fault = ProductFault(at: at, code: .unavailable, detail: "away")
                try files.note(fault, of: .appStore)
                #expect(try source().fault == (isTold ? fault : nil), "an older one is over")
                #expect(try source().products == 1)
            }
            try DurableFile.replace(folder + "/products/app_store.json", with: Array("{}".utf8))
            #expect(try source().isDamaged && source().products == 0)
            var answer = Self.offered("pro")
            try kept.join(&answer, Self.view())
            #expect(answer.products.map(\.metadata) == [[]])
        }
    }

    // row 1.2
    @Test func `are listed with what the catalog opens by each`() throws {
        try Self.with { files, kept throws in
            try Self.keep(
                [Self.product("pro.month"), Self.product("coins"), Self.product("unknown")],
                of: .appStore,
                in: files
            )
            try Self.keep(
                [Self.product("pro", in: "play_store", plan: "monthly")],
                of: .playStore,
                in: files
            )
            let catalog = try Catalog(document: JSONValue(parsing: Array(Self.catalog.utf8)))
            let answer = try kept.listing(catalog, only: nil, Self.view())
            #expect(answer.products.map(\.productID) == ["pro.month", "coins", nil, "pro.month"])
            #expect(answer.products.map(\.tier) == ["pro", nil, nil, "pro"])
            #expect(answer.products.map(\.features) == [["export"], [], [], ["export"]])
            #expect(answer.untold == ["lost"])
            let bare = try kept.listing(nil, only: .playStore, Self.view())
            #expect(bare.products.map(\.productID) == [nil] && bare.untold == [])
        }
    }

    // Whatever is asked for: a price is written in some way.
    @Test(arguments: ["de", "ar", "zh-Hant-TW-x-a", "xx", "a-b-c-d-e-f", "en-US-u-nu-thai"])
    func `have prices in every language`(locale: String) throws {
        for micros in [0, 1, 4_990_000, FieldShape.largestPrice] {
            for currency in ["USD", "JPY", "XXX", "QQQ"] {
                let price = StoreProduct.Price(storefront: "US", micros: micros, currency: currency)
                #expect(!PriceText.text(price, in: LanguageTag(locale)).isEmpty)
            }
        }
    }
}
