import Encodings
import Entitlements
import Testing

/// A catalog with many of one thing, as text.
private struct Many {
    var path: String
    var limit: Int
    var text: @Sendable (_ count: Int) -> String

    /// `parts`: what stands in a catalog beside what it must have.
    init(
        _ path: String,
        _ limit: Int,
        _ text: @escaping @Sendable (_ count: Int) -> String
    ) {
        self.path = path
        self.limit = limit
        self.text = text
    }

    static func list(_ count: Int, _ element: (Int) -> String) -> String {
        (0..<count).map(element).joined(separator: ",")
    }

    static func catalog(
        tiers: String = "",
        features: String = "",
        products: String = "",
        _ more: String = ""
    ) -> String {
        """
        {"tiers":["free"\(tiers)],"features":[\(features)],"products":[\(products)]\(more)}
        """
    }

    static func product(_ number: Int, _ more: String = "") -> String {
        #"{"id":"p\#(number)","kind":"consumable"\#(more)}"#
    }

    /// As many features, products, trials, zones and overrides, each of which names another.
    static func everything(_ count: Int) -> String {
        let zones = list(count) { #""z\#($0)":{"offsetSeconds":0}"# }
        let overrides = list(count) { #"{"id":"f\#($0)","level":"pro"}"# }
        let trials = list(count) { #"{"id":"t\#($0)","days":1,"features":["f\#($0)"]}"# }
        return catalog(
            tiers: #","pro""#,
            features: list(count) { number in
                let limit = #"{"perPeriod":{"count":1,"period":"day","timeZone":"z\#(number)"}}"#
                return #"{"id":"f\#(number)","limits":{"free":\#(limit)}}"#
            },
            products: list(count) { number in
                let unlocks = #"{"features":["f\#(number)"]}"#
                return #"{"id":"p\#(number)","kind":"auto_renewable","unlocks":\#(unlocks)}"#
            },
            #","trials":[\#(trials)]"#
                + #","timeZones":{"zones":{\#(zones)}},"experiments":[{"id":"e","variants":"#
                + #"[{"id":"v","weight":1,"overrides":{"features":[\#(overrides)]}}]}]"#
        )
    }

    static let all = [
        Many("tiers", 100) { catalog(tiers: "," + list($0 - 1) { "\"t\($0)\"" }) },
        Many("features", 1000) { catalog(features: list($0) { #"{"id":"f\#($0)"}"# }) },
        Many("products", 5000) { catalog(products: list($0) { product($0) }) },
        Many("trials", 1000) {
            catalog(#","trials":[\#(list($0) { #"{"id":"t\#($0)","days":1}"# })]"#)
        },
        Many("offerings", 1000) { catalog(#","offerings":[\#(list($0) { _ in "{}" })]"#) },
        Many("experiments", 100) {
            let variants = #""variants":[{"id":"a","weight":1}]"#
            return catalog(#","experiments":[\#(list($0) { #"{"id":"e\#($0)",\#(variants)}"# })]"#)
        },
        Many("experiments[0].variants", 100) {
            let variants = list($0) { #"{"id":"v\#($0)","weight":1}"# }
            return catalog(#","experiments":[{"id":"e","variants":[\#(variants)]}]"#)
        },
        Many("products[0].unlocks.features", 5000) {
            let features = list($0) { _ in "\"f\"" }
            let product = product(0, #","unlocks":{"features":[\#(features)]}"#)
            return catalog(features: #"{"id":"f"}"#, products: product)
        },
        Many("products[0].stores", 20) {
            catalog(
                products: product(0, #","stores":{\#(list($0) { #""s\#($0)":["a"]"# })}"#)
            )
        },
        Many("products[0].stores.app_store", 100) {
            let ids = list($0) { "\"i\($0)\"" }
            return catalog(products: product(0, #","stores":{"app_store":[\#(ids)]}"#))
        },
        Many("timeZones.zones", 1000) {
            let zones = list($0) { #""z\#($0)":{"offsetSeconds":0}"# }
            return catalog(#","timeZones":{"zones":{\#(zones)}}"#)
        },
        Many("timeZones.zones.z.transitions", 2000) {
            let changes = list($0) { "[\($0),\($0 % 2)]" }
            return catalog(
                #","timeZones":{"zones":{"z":{"offsetSeconds":0,"transitions":[\#(changes)]}}}"#
            )
        },
    ]
}

/// What a catalog may cost who reads it.
struct `A catalog with many things` {
    private static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    private static func faults(_ json: JSONValue) -> [InputFault] {
        do throws(InputFault) {
            _ = try Catalog(document: json)
            return []
        } catch {
            return error.all
        }
    }

    // K10
    @Test(arguments: Many.all.indices)
    private func `has as many as its list may have, and one more is refused`(row: Int) throws {
        let many = Many.all[row]
        #expect(Self.faults(try Self.json(many.text(many.limit))) == [])
        let refused = try Self.json(many.text(many.limit + 1))
        let faults = Self.faults(refused)
        #expect(faults.map(\.code) == [.outOfRange] && faults.first?.path == many.path)
        // What was published once is read for ever.
        #expect(throws: Never.self) { try Catalog(recorded: refused) }
    }

    @Test func `is compared in no more than so many stores`() throws {
        let text = Many.catalog(
            products: Many.list(21) { Many.product($0, #","stores":{"s\#($0)":["i\#($0)"]}"#) }
        )
        #expect(Self.faults(try Self.json(text)).map(\.code) == [.outOfRange])
    }

    @Test func `lists no more than so many faults, each with a short path`() throws {
        let name = String(repeating: "é", count: 100_000)
        let stores = #""stores":{"\#(name)":[\#(Many.list(100) { _ in "1" })]}"#
        let text = Many.catalog(products: Many.list(40) { Many.product($0, "," + stores) })
        let faults = Self.faults(try Self.json(text))
        #expect(faults.count == Catalog.faultLimit)
        #expect(faults.allSatisfy { $0.path.utf8.count < 400 })
    }

    // 40 000 tiers, or 4 000 stores and products, took 11 s.
    @Test(arguments: Many.all.indices)
    private func `costs no more for each thing than one with few`(row: Int) throws {
        let many = Many.all[row]
        let cost = Cost(name: many.path, limit: many.limit) { size in
            let json = try? Self.json(many.text(size))
            return { _ = json.map(Self.faults) }
        }
        #expect(cost.isLinear)
    }

    // Two lists that name one another: either alone may be long.
    @Test func `costs no more for each thing where all of its lists are long`() {
        let cost = Cost(name: "all lists", limit: 1000) { size in
            let json = try? Self.json(Many.everything(size))
            return {
                guard let catalog = json.flatMap({ try? Catalog(recorded: $0) }) else { return }
                _ = catalog.doubts
                _ = catalog.seen { _ in 0 }
            }
        }
        #expect(Self.faults((try? Self.json(Many.everything(1000))) ?? .null) == [])
        #expect(cost.isLinear)
    }
}
