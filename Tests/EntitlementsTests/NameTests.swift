import Encodings
import Entitlements
import ModelSupport
import Testing

/// Names compare by bytes (Architecture, "Rules of the house"): two ways to write an accent are
/// two names.
struct `Names in two normal forms` {
    private static let composed = "jos\u{e9}"
    private static let decomposed = "jose\u{301}"
    private static let time = Instant(milliseconds: 1_790_000_000_000)

    // The control: to Swift they are one text, which is how they were mistaken.
    @Test func `are one text to Swift and two names to the ledger`() {
        #expect(Self.composed == Self.decomposed)
        #expect(Name(Self.composed) != Name(Self.decomposed))
        #expect(Name(Self.composed) == Name("jos\u{e9}"))
        #expect(!Self.composed.isSame(as: Self.decomposed) && !Self.composed.isSame(as: nil))
        #expect(![Self.composed].holds(Self.decomposed))
        #expect(Set(texts: [Self.composed, Self.decomposed]).count == 2)
        #expect("\u{212A}".isSame(as: "K") == false)
    }

    // One hash for all of them, and a table of names that somebody chose so takes the square of their number.
    @Test func `have hashes of their own, and the same bytes have the same`() {
        // Three ways to write one letter, at each of six places.
        let ways = ["\u{212B}", "\u{C5}", "A\u{30A}"]
        let texts = (0..<6).reduce([""]) { texts, _ in
            texts.flatMap { text in ways.map { text + $0 } }
        }
        // The control: to Swift they are one.
        #expect(texts.count == 729 && Set(texts).count == 1)
        #expect(Set(texts.map { Name($0).hashValue }).count > 720)
        #expect(Set(texts.compactMap { CustomerID($0)?.hashValue }).count > 720)
        for text in texts.prefix(9) + ["", "1234567", "12345678", "123456789", "\0", "\0\0"] {
            let copy = String(decoding: Array(text.utf8), as: UTF8.self)
            let part = String("x\(text)y".unicodeScalars.dropFirst().dropLast())
            #expect(Name(copy).hashValue == Name(text).hashValue)
            #expect(Name(part).hashValue == Name(text).hashValue)
        }
        let short = ["", "\0", "\0\0", "a", "a\0", "a\0\0\0\0\0\0\0", "aaaaaaaa", "aaaaaaaa\0"]
        #expect(Set(short.map { Name($0).hashValue }).count == short.count)
    }

    @Test func `are two subjects, purchases, values, events and JSON texts`() throws {
        func event(_ id: String, _ customer: CustomerID, _ grant: String) -> Event {
            let data = EventData(.grantGiven, [.grantID: .text(grant), .tier: .text("pro")])
            return Event(
                id: id,
                source: "support",
                subject: .customer(customer),
                time: Self.time,
                data: data
            )
        }
        let (one, other) = (Self.composed, Self.decomposed)
        let customers: [CustomerID] = ["\(one)", "\(other)"]
        #expect(Set(customers).count == 2 && customers[0] > customers[1])
        #expect(Set(customers.map(Subject.customer)).count == 2)
        #expect(Subject("purchase/app_store/" + one) != Subject("purchase/app_store/" + other))
        #expect(PurchaseName("app_store/" + one) != PurchaseName("app_store/" + other))
        #expect(FieldValue.text(one) != .text(other))
        #expect(FieldValue.texts([one]) != .texts([other]))
        #expect(JSONValue.string(one) != .string(other))
        #expect(JSONMember(one, .null) != JSONMember(other, .null))
        #expect(AccessSource.trial(one) != .trial(other))
        let (customer, namesake) = (customers[0], customers[1])
        let known = event("a", customer, "g")
        #expect(event("a", customer, "g") == known)
        for changed in [
            event("a", namesake, "g"), event("a", customer, other), event(one, customer, "g"),
        ] {
            #expect(changed != known)
        }
        #expect(event(one, "a", "g") != event(other, "a", "g"))
    }

    @Test func `are two members of an object, each found by its own`() throws {
        let few = #"{"\#(Self.composed)":1,"\#(Self.decomposed)":2}"#
        let many =
            "{" + (0..<20).map { "\"m\($0)\":0," }.joined()
            + #""\#(Self.composed)":1,"\#(Self.decomposed)":2}"#
        for text in [few, many] {
            let json = try JSONValue(parsing: Array(text.utf8))
            #expect(json[Self.composed] == .integer(1) && json[Self.decomposed] == .integer(2))
        }
        let twice = #"{"\#(Self.composed)":1,"\#(Self.composed)":2}"#
        #expect(throws: JSONFault.self) { try JSONValue(parsing: Array(twice.utf8)) }
    }

    @Test func `stand in one order, whichever comes first`() {
        let names = ["z", Self.composed, Self.decomposed, "a"]
        let ordered = ["a", Self.decomposed, Self.composed, "z"].map { Name($0) }
        #expect(names.sortedByBytes().map { Name($0) } == ordered)
        #expect(names.reversed().sortedByBytes().map { Name($0) } == ordered)
        #expect(Set(texts: names).texts.map { Name($0) } == ordered)
    }

    @Test func `are two features, products, trials and tiers of a catalog`() throws {
        let (one, other) = (Self.composed, Self.decomposed)
        let document = """
            {"tiers":["free","\(one)","\(other)"],
             "features":[{"id":"\(one)","level":"\(one)"},{"id":"\(other)","level":"\(other)"}],
             "products":[{"id":"\(one)","kind":"non_consumable","unlocks":{"features":["\(one)"]}},
               {"id":"\(other)","kind":"non_consumable","unlocks":{"features":["\(other)"]}}],
             "trials":[{"id":"\(one)","days":1},{"id":"\(other)","days":2}]}
            """
        let catalog = try Catalog(document: JSONValue(parsing: Array(document.utf8)))
        #expect(catalog.featureIndex(one) == 0 && catalog.featureIndex(other) == 1)
        #expect(catalog.tierIndex(one) == 1 && catalog.tierIndex(other) == 2)
        let product = try #require(catalog.product(other, in: "app_store"))
        #expect(catalog.unlocked(by: product.unlocks) == [1])
        let map = GateMap(catalog)
        #expect(map.features.count == 2 && map.products.count == 2)
        #expect(map.isOpen(one, to: [Name(one)]) && !map.isOpen(one, to: [Name(other)]))
        #expect(try GateMap(json: map.json) == map)
    }

    // K8: a variant's override is of the feature whose bytes it names.
    @Test func `are two features that a variant overrides each by itself`() throws {
        for (overridden, levels) in [(Self.composed, [0, 1]), (Self.decomposed, [1, 0])] {
            let document = """
                {"tiers":["free","pro"],
                 "features":[{"id":"\(Self.composed)"},{"id":"\(Self.decomposed)"}],"products":[],
                 "experiments":[{"id":"e","variants":[{"id":"v","weight":1,
                   "overrides":{"features":[{"id":"\(overridden)","level":"free"}]}}]}]}
                """
            let catalog = try Catalog(document: JSONValue(parsing: Array(document.utf8)))
            #expect(catalog.seen { _ in 0 }.features.map(\.level) == levels)
        }
    }

    @Test func `are two lists of features of a grant`() {
        var names = FactNameTable()
        #expect(names.list([Self.composed]) != names.list([Self.decomposed]))
        #expect(names.list([Self.composed]) == names.list([Self.composed]))
    }
}
