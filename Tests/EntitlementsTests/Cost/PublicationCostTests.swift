import Encodings
import Entitlements
import Testing

/// What it costs that many catalogs were published before.
struct `A log with many catalogs` {
    private static let day: Int64 = 86_400_000

    private static func catalog(_ number: Int) throws -> Catalog {
        let text = """
            {"tiers":["free","pro"],"features":[{"id":"export","level":"pro"}],"products":[],
            "experiments":[{"id":"e","variants":[
            {"id":"a","weight":1},
            {"id":"b","weight":1,"overrides":{"features":[{"id":"export","level":"free"}]}}]}],
            "policy":{"renewalLeewaySeconds":\(number)}}
            """
        return try Catalog(document: JSONValue(parsing: Array(text.utf8)))
    }

    /// Publications a day apart.
    private static func history(_ count: Int) throws -> CatalogHistory {
        CatalogHistory(
            try (0..<count).map {
                .init(
                    time: Instant(milliseconds: Int64($0) * day),
                    sequence: UInt64($0),
                    catalog: try catalog($0)
                )
            }
        )
    }

    // K8: a report over everybody worked out each catalog for each customer.
    @Test func `costs a customer what is in force alone`() throws {
        let cost = Cost(name: "customers and catalogs", limit: 800) { size in
            let history = try? Self.history(size)
            return {
                for customer in 0..<size {
                    let seen = history?.seen { _ in customer.isMultiple(of: 2) ? 0 : .max }
                    _ = seen?.catalog(at: Instant(milliseconds: Int64(customer) * Self.day))
                }
            }
        }
        #expect(cost.isLinear)
    }

    // K1, K8
    @Test func `shows each customer their variant of each`() throws {
        let history = try Self.history(5)
        for (position, level) in [(UInt64(0), 1), (.max, 0)] {
            let seen = history.seen { _ in position }
            for number in 0..<5 {
                let instant = Instant(milliseconds: Int64(number) * Self.day + 1)
                let catalog = try #require(seen.catalog(at: instant))
                #expect(catalog.policy.renewalLeewaySeconds == Int64(number))
                #expect(catalog.features[0].level == level)
                // The same once more: it is kept.
                #expect(seen.publications[number].catalog.features[0].level == level)
                #expect(history.publications[number].catalog.features[0].level == 1)
            }
        }
        #expect(history.index(at: Instant(milliseconds: -1)) == 0, "before the first one it counts")
    }
}
