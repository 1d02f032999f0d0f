package import Encodings
package import StoreSimulator

/// What the scenarios' app sells, and what it opens.
package enum ScenarioProducts {
    private static let day: Int64 = 86_400_000

    /// A product by its short name; nil: none is sold under it.
    static func product(_ name: String) -> SimulatedProduct? {
        all.first { $0.name.isSame(as: name) }?.product
    }

    /// A month, and the free week before it.
    static let month = "month"
    static let trial = "trial"

    /// The names that steps use.
    static var names: String { all.map(\.name).joined(separator: ", ") }

    /// What the App Store sells of them; a trial is sold as what it renews to.
    package static var sold: [SimulatedProduct] {
        all.filter { ![trial, "prepaid"].contains($0.name) }.map(\.product)
    }

    private static let all: [(name: String, product: SimulatedProduct)] = [
        ("week", renewable("pro.week", days: 7, price: 2_990)),
        (month, renewable("pro.month", days: 30, price: 9_990)),
        (trial, renewable("pro.month", days: 7, price: 0)),
        ("plus", renewable("plus.month", days: 30, price: 19_990)),
        ("lifetime", once("pro.life", "Non-Consumable", price: 99_990)),
        ("season", once("pro.season", "Non-Renewing Subscription", price: 19_990)),
        ("coins", once("coins", "Consumable", price: 990)),
        ("prepaid", prepaid("pro.prepaid", days: 30, price: 9_990)),
    ]

    private static func renewable(
        _ id: String,
        days: Int64,
        price: Int64
    ) -> SimulatedProduct {
        SimulatedProduct(
            id: id,
            type: "Auto-Renewable Subscription",
            period: days * day,
            price: price
        )
    }

    /// A plan that is paid each time; Google Play alone has it.
    private static func prepaid(_ id: String, days: Int64, price: Int64) -> SimulatedProduct {
        SimulatedProduct(
            id: id,
            type: "Non-Renewing Subscription",
            period: days * day,
            price: price
        )
    }

    private static func once(
        _ id: String,
        _ type: String,
        price: Int64
    ) -> SimulatedProduct {
        SimulatedProduct(id: id, type: type, period: nil, price: price)
    }

    /// The catalog of every scenario; `policy`: its `policy.claim`.
    package static func catalog(policy: String) throws -> JSONValue {
        let text = """
            {"tiers":["free","pro","plus"],
             "features":[{"id":"export","level":"pro"},{"id":"scan","level":"plus"}],
             "products":[
               {"id":"pro.week","kind":"auto_renewable","unlocks":{"tier":"pro"}},
               {"id":"pro.month","kind":"auto_renewable","unlocks":{"tier":"pro"}},
               {"id":"plus.month","kind":"auto_renewable","unlocks":{"tier":"plus"}},
               {"id":"pro.life","kind":"non_consumable","unlocks":{"tier":"pro"}},
               {"id":"pro.season","kind":"non_renewing","duration":"P90D",
                "unlocks":{"tier":"pro"}},
               {"id":"pro.prepaid","kind":"non_renewing","duration":"P30D",
                "unlocks":{"tier":"pro"}},
               {"id":"coins","kind":"consumable","unlocks":{}}],
             "policy":{"claim":"\(policy)"}}
            """
        return try JSONValue(parsing: Array(text.utf8))
    }
}
