import Encodings
import Entitlements
import ModelSupport
import Testing

/// Row CL6: gates are pure functions over a closed map.
struct `A gate map` {
    private static func catalog(_ text: String) throws -> Catalog {
        try Catalog(document: JSONValue(parsing: Array(text.utf8)))
    }

    private static let app = """
        {"tiers":["free","basic","pro"],
         "features":[{"id":"open","level":"free"},{"id":"chart","level":"basic"},{"id":"raw"}],
         "products":[{"id":"coffee","kind":"consumable","unlocks":{"all":true}},
                     {"id":"basic","kind":"auto_renewable","unlocks":{"tier":"basic"}},
                     {"id":"raw.one","kind":"non_consumable","unlocks":{"features":["raw"]}},
                     {"id":"all","kind":"non_consumable","unlocks":{"all":true}}]}
        """

    // rows 4.1, 4.4, 4.6: what is sold where a gate is closed
    @Test(arguments: [
        ("open", "free", []), ("chart", "basic", ["basic", "all"]),
        ("raw", "pro", ["raw.one", "all"]),
    ])
    func `tells a feature's level and what opens it`(
        _ feature: String,
        _ level: String,
        _ products: [String]
    ) throws {
        let map = GateMap(try Self.catalog(Self.app))
        #expect(map.features[feature]?.level == level)
        #expect(map.products(opening: feature) == products)
        #expect(map.features(ofLevel: level) == [feature])
    }

    // K9: what a store sells under ids of its own
    @Test func `tells which product a store sells under an id`() throws {
        let sold = Self.app.replacing(
            #"{"id":"basic","kind""#,
            with: #"{"id":"basic","stores":{"app_store":["b.1","b.2"],"play_store":[]},"kind""#
        )
        let made = GateMap(try Self.catalog(sold))
        let read = try GateMap(json: JSONValue(parsing: Array(made.json.description.utf8)))
        #expect(read == made)
        for id in ["b.1", "b.2"] {
            #expect(read.product(soldAs: id, in: "app_store") == "basic")
            #expect(read.product(soldAs: id, in: "mac_app_store") == "basic")
        }
        #expect(read.product(soldAs: "basic", in: "app_store") == nil)
        #expect(read.product(soldAs: "basic", in: "play_store") == nil)
        #expect(read.product(soldAs: "basic", in: "revenuecat") == "basic")
        #expect(read.product(soldAs: "all", in: "app_store") == "all")
        #expect(read.storeProducts(of: "basic", in: "app_store") == ["b.1", "b.2"])
        #expect(read.storeProducts(of: "all", in: "play_store") == ["all"])
        #expect(read.storeProducts(of: "none", in: "app_store") == [])
    }

    @Test func `is closed for whatever it does not list`() throws {
        let map = GateMap(try Self.catalog(Self.app))
        #expect(!map.isOpen("none", to: ["all"]))
        #expect(!map.isOpen("raw", to: ["none"]))
        #expect(map.products(opening: "none").isEmpty)
        #expect(map.features(ofLevel: "none").isEmpty)
    }

    // K2, K5: what the slow model says of somebody who just bought one product
    @Test func `agrees with the obvious model on who holds one product`() throws {
        var cells = (open: 0, closed: 0)
        for seed: UInt64 in 0..<150 {
            var generator = RandomEvents(seed: seed)
            let document = generator.catalog()
            let catalog = try Catalog(document: document)
            guard catalog.experiments.isEmpty else { continue }
            let map = GateMap(catalog)
            for product in catalog.products
            where product.stores["app_store"] == nil && product.stores["mac_app_store"] == nil {
                let log = try Self.bought(product, document)
                let answer = SlowModel(log: log).show(
                    customer: "ann",
                    environment: .production,
                    at: Instant(milliseconds: 1_767_225_600_001)
                )
                for feature in answer["features"]?.members ?? [] {
                    let isOpen = feature.value["allowed"]?.bool == true
                    #expect(
                        map.isOpen(feature.name, to: [Name(product.id)]) == isOpen,
                        "seed \(seed), \(product.id), \(feature.name)"
                    )
                    if isOpen { cells.open += 1 } else { cells.closed += 1 }
                }
            }
        }
        #expect(cells.open > 100 && cells.closed > 100, "\(cells)")
    }

    /// A verified purchase of a product, claimed by ann, under a catalog.
    private static func bought(
        _ product: Catalog.Product,
        _ document: JSONValue
    ) throws -> [RecordedEvent] {
        let lines: [String] = [
            #"{"id":"b","type":"purchase.completed","subject":"purchase/app_store/1","data":{"transactionId":"t","productId":"\#(product.id)","productKind":"\#(product.kind.name)"}"#,
            #"{"id":"v","type":"verification.passed","subject":"purchase/app_store/1","data":{"method":"manual"}"#,
            #"{"id":"c","type":"customer.claimed","subject":"customer/ann","data":{"purchase":"app_store/1"}"#,
            #"{"id":"p","type":"catalog.published","subject":"catalog","data":\#(document)"#,
        ]
        return try lines.enumerated().map { index, line in
            let text =
                line + #","specversion":"1.0","source":"app","time":"2026-01-01T00:00:00Z"}"#
            return RecordedEvent(
                sequence: UInt64(index),
                recordedAt: Instant(milliseconds: 1_767_225_600_000),
                event: try Event(validating: JSONValue(parsing: Array(text.utf8)))
            )
        }
    }

    // row B6: what was fetched, or what was built in
    @Test func `is read as it is written`() throws {
        for seed: UInt64 in 0..<50 {
            var generator = RandomEvents(seed: seed)
            let map = GateMap(try Catalog(document: generator.catalog()))
            #expect(try GateMap(json: map.json) == map, "seed \(seed)")
        }
    }

    // row Z15; maps of servers before 0.6 say nothing of it
    @Test func `says when the next catalog comes into force`() throws {
        let catalog = try Self.catalog(Self.app)
        let next = Instant(milliseconds: 1_767_225_600_000)
        let map = GateMap(catalog, validUntil: next)
        #expect(map.json["validUntil"] == .instant(next))
        #expect(try GateMap(json: map.json) == map)
        let older = JSONValue.object((map.json.members ?? []).filter { $0.name != "validUntil" })
        #expect(try GateMap(json: older) == GateMap(catalog))
    }

    @Test(arguments: [
        ("{}", "tiers"), (#"{"tiers":["pro"]}"#, "tiers"), (#"{"tiers":[1]}"#, "tiers"),
        (#"{"tiers":["free"]}"#, "features"),
        (#"{"tiers":["free"],"features":{"a":{}}}"#, "features.a.level"),
        (#"{"tiers":["free"],"features":{"a":{"level":"x"}}}"#, "features.a.level"),
        (
            #"{"tiers":["free"],"features":{"a":{"level":"free","products":["x"]}},"products":{}}"#,
            "features.a.products"
        ),
        (
            #"{"tiers":["free"],"features":{},"products":{"x":{"kind":"consumable","tier":null,"features":["a"]}}}"#,
            "products.x.features"
        ),
        (#"{"tiers":["free"],"features":{},"products":{"x":{"kind":"box"}}}"#, "products.x.kind"),
        (
            #"{"tiers":["free"],"features":{},"products":{},"validUntil":"soon"}"#,
            "validUntil"
        ),
    ])
    func `is refused where it is not closed`(_ text: String, _ path: String) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        let fault = #expect(throws: InputFault.self) { try GateMap(json: json) }
        #expect(fault?.path == path)
    }
}

struct `Near names` {
    @Test(arguments: [
        ("spectrm", ["spectrum"]), ("Export", ["export"]), ("exprot", ["export"]),
        ("zzzzzz", []), ("", []),
        ("ex", ["export"]), ("play", ["playback"]), ("shwo", ["show"]), ("hsow", ["show"]),
    ])
    func `are those that somebody may have meant`(_ written: String, _ near: [String]) {
        #expect(NearNames.near(written, among: ["spectrum", "export", "playback", "show"]) == near)
    }

    @Test func `are few, and long ones stop nobody`() {
        let known = (0..<1000).map { "feature\($0)" }
        #expect(NearNames.near("feature1", among: known).count == 3)
        let long = String(repeating: "x", count: 100_000)
        #expect(NearNames.near(long, among: [long + "y"]) == [long + "y"])
    }
}
