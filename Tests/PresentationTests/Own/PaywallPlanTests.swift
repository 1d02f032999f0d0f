import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import Presentation

/// What a plan costs and saves, exactly (row 5.2).
struct `A plan of a paywall` {
    private static func plan(
        _ id: String,
        _ micros: Int64,
        _ period: String?,
        currency: String = "USD",
        features: [String] = ["export"]
    ) -> PaywallPlan {
        let price = ProductMetadata.Price(
            storefront: "US",
            micros: micros,
            currency: currency,
            text: "\(micros)"
        )
        let metadata = ProductMetadata(
            source: .appStore,
            loadedAt: Instant(milliseconds: 0),
            ageSeconds: 0,
            store: Source.appStore,
            storeProductID: id,
            plan: nil,
            kind: .autoRenewable,
            period: period,
            group: nil,
            locale: nil,
            name: nil,
            description: nil,
            price: price,
            offers: []
        )
        return PaywallPlan(
            OfferingAnswer.Product(
                id: id,
                kind: .autoRenewable,
                tier: "pro",
                features: features,
                stores: [],
                locale: nil,
                text: .null,
                metadata: [metadata]
            ),
            in: nil,
            isNew: true
        )
    }

    @Test(arguments: [
        // Half of twelve months is 50 %, and a cent more is not.
        (Int64(60_000_000), "P1Y", Int64(10_000_000), "P1M", Int64?(50)),
        (60_010_000, "P1Y", 10_000_000, "P1M", 49), (39_990_000, "P1Y", 4_990_000, "P1M", 33),
        (119_990_000, "P1Y", 10_000_000, "P1M", nil), (120_000_000, "P1Y", 10_000_000, "P1M", nil),
        (130_000_000, "P1Y", 10_000_000, "P1M", nil), (15_000_000, "P3M", 10_000_000, "P1M", 50),
        // Weeks are no months.
        (1_000_000, "P1W", 10_000_000, "P1M", nil), (0, "P1Y", 10_000_000, "P1M", 100),
        (10_000_000, "P1Y", 0, "P1M", nil), (.max, "P1Y", .max, "P1M", nil),
    ])
    func `saves no more than it says`(
        _ row: (micros: Int64, period: String, base: Int64, basePeriod: String, percent: Int64?)
    ) {
        let saving = Self.plan("a", row.micros, row.period)
            .saving(against: Self.plan("b", row.base, row.basePeriod))
        #expect(saving == row.percent)
    }

    @Test func `is compared with what opens the same, in the same money`() {
        let year = Self.plan("a", 60_000_000, "P1Y")
        #expect(year.saving(against: Self.plan("b", 10_000_000, "P1M", currency: "EUR")) == nil)
        #expect(year.saving(against: Self.plan("b", 10_000_000, "P1M", features: [])) == nil)
        #expect(year.saving(among: [year, Self.plan("b", 10_000_000, "P1M")]) == 50)
        #expect(year.microsPerMonth == 5_000_000)
    }

    @Test(arguments: [
        ("P1M", "month", "1 month", "1か月", "月"), ("P3M", "3 months", "3 months", "3か月", " 3 個月"),
        ("P1Y", "year", "1 year", "1年", "年"), ("P7D", "week", "1 week", "1週間", "週"),
        ("P3D", "3 days", "3 days", "3日間", " 3 天"),
    ])
    func `lasts as people say it`(
        _ row: (text: String, each: String, length: String, japanese: String, chinese: String)
    ) throws {
        let period = try #require(ShownPeriod(row.text))
        #expect(period.each(in: .english) == row.each)
        #expect(period.length(in: .english) == row.length)
        #expect(period.each(in: .japanese) == row.japanese)
        #expect(period.each(in: .traditionalChinese) == row.chinese)
    }

    @Test(arguments: ["", "P", "P0M", "PT1H", "P1M2D", "P-1M", "P99999Y", "1M", "P1X"])
    func `of no one unit has no words`(_ text: String) { #expect(ShownPeriod(text) == nil) }
}
