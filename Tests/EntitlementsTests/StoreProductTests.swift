import Encodings
import Testing

@testable import Entitlements

/// What stores say of products, as values (rows 1.1, 1.2).
struct `A store's product` {
    private static func product(_ locales: [String]) -> StoreProduct {
        StoreProduct(
            store: "app_store",
            id: "pro",
            texts: locales.map { StoreProduct.Text(locale: $0, name: "in " + $0) }
        )
    }

    // row 1.1
    @Test(arguments: [
        ("de-AT", ["en-US", "de-DE", "de-AT"], "de-AT"), ("de-AT", ["en-US", "de-DE"], "de-DE"),
        ("DE", ["en-US", "de"], "de"), ("zh-Hant-TW", ["zh-Hans", "zh-Hant"], "zh-Hant"),
        ("fr", ["ja", "en-GB", "en-US"], "en-GB"), ("fr", ["ja", "ko"], "ja"),
        // `de` begins `den`, and is another language.
        ("de", ["den", "en"], "en"),
    ])
    func `is called in the language that is nearest`(
        asked: String,
        locales: [String],
        shown: String
    ) throws {
        let tag = try #require(LanguageTag(asked))
        #expect(Self.product(locales).text(for: tag)?.locale == shown)
    }

    @Test func `is called in English where no language is asked for, or not at all`() {
        #expect(Self.product(["ja", "en-US"]).text(for: nil)?.locale == "en-US")
        #expect(Self.product([]).text(for: nil) == nil)
    }

    // K9
    @Test func `has a name for its plan too`() {
        #expect(StoreProduct(store: "play_store", id: "pro").names == ["pro"])
        let planned = StoreProduct(store: "play_store", id: "pro", plan: "monthly")
        #expect(planned.names == ["pro", "pro:monthly"])
    }

    @Test func `costs what it costs in the country that is asked for`() throws {
        let (us, jp) = (
            StoreProduct.Price(storefront: "US", micros: 4_990_000, currency: "USD"),
            StoreProduct.Price(storefront: "JP", micros: 800_000_000, currency: "JPY")
        )
        #expect([us, jp].price(in: Storefront("JPN")) == jp)
        #expect([us, jp].price(in: Storefront("us")) == us)
        #expect([us, jp].price(in: Storefront("DE")) == nil)
        #expect([us, jp].price(in: nil) == nil, "which of two is not said")
        #expect([us].price(in: nil) == us)
    }

    @Test(arguments: [
        ("US", "US"), ("us", "US"), ("USA", "US"), ("gbr", "GB"), ("XKS", "XK"), ("ZZ", "ZZ"),
        ("ZZZ", nil), ("", nil), ("U", nil), ("U1", nil), ("USAA", nil), ("ÜS", nil), ("U S", nil),
    ])
    func `is sold in countries of two letters or three`(text: String, code: String?) {
        #expect(Storefront(text)?.code == code)
    }
}
