import Encodings
import Entitlements
import Testing

/// K10, and what is legal and odd.
struct `A catalog` {
    private static func faults(_ text: String) throws -> [String] {
        let json = try JSONValue(parsing: Array(text.utf8))
        do throws(InputFault) {
            _ = try Catalog(document: json)
            return []
        } catch {
            return error.all.map { "\($0.code.rawValue) \($0.path)" }
        }
    }

    // K10
    @Test(arguments: [
        (#"{"tiers":[],"features":[],"products":[]}"#, ["free_tier_missing tiers"]),
        (
            #"{"tiers":["pro"],"features":[{"id":"a"},{"id":"a"}],"products":[]}"#,
            ["free_tier_missing tiers", "duplicate_id features[1].id"]
        ),
        (
            #"{"tiers":["free"],"features":[],"products":[{"id":"x","kind":"consumable","unlocks":{"tier":"gold","features":["gone"]}}]}"#,
            [
                "unknown_feature products[0].unlocks.features[0]",
                "unknown_tier products[0].unlocks.tier",
            ]
        ),
        (
            #"{"tiers":["free"],"features":[{"id":"a","level":"gold"}],"products":[]}"#,
            ["unknown_tier features[0].level"]
        ),
        (
            #"{"tiers":["free"],"features":[{"id":"a","limits":{"free":{}}}],"products":[]}"#,
            ["no_period features[0].limits.free"]
        ),
        (
            #"{"tiers":["free"],"features":[{"id":"a","limits":{"free":{"perPeriod":{"count":1}}}}],"products":[]}"#,
            ["no_period features[0].limits.free.perPeriod.period"]
        ),
        (
            #"{"tiers":["free"],"features":[],"products":[],"experiments":[{"id":"x","variants":[{"id":"a","weight":0}]}]}"#,
            ["no_weight experiments[0].variants"]
        ),
        (
            #"{"tiers":["free"],"features":[],"products":[],"experiments":[{"id":"x","variants":[{"id":"a","weight":1},{"id":"b","weight":1},{"id":"a","weight":1}]}]}"#,
            ["duplicate_id experiments[0].variants[2].id"]
        ),
        (
            #"{"tiers":["free"],"features":[],"products":[{"id":"x","kind":"consumable"},{"id":"y","kind":"consumable","stores":{"app_store":["x"]}}]}"#,
            ["ambiguous_product products[1]"]
        ),
        (
            #"{"tiers":["free"],"features":[],"products":[{"id":"x","kind":"non_renewing","duration":"P030D"},{"id":"y","kind":"auto_renewable","duration":"P1M"},{"id":"z","kind":"non_renewing","duration":30}]}"#,
            [
                "malformed products[0].duration", "malformed products[1].duration",
                "malformed products[2].duration",
            ]
        ),
        // K9: Apple's two keys are one store's.
        (
            #"{"tiers":["free"],"features":[],"products":[{"id":"x","kind":"consumable","stores":{"mac_app_store":["z"]}},{"id":"y","kind":"consumable","stores":{"app_store":["z"]}}]}"#,
            ["ambiguous_product products[1]"]
        ),
        (
            #"{"tiers":["free"],"features":[],"products":[{"id":"x","kind":"consumable","stores":{"mac_app_store":["z"],"app_store":["z"]}}]}"#,
            []
        ),
        (
            #"{"tiers":["free"],"features":[],"products":[],"offerings":[{"feature":"gone","products":["gone"]}]}"#,
            ["unknown_feature offerings[0].feature", "unknown_product offerings[0].products[0]"]
        ),
    ])
    func `is refused with every fault and its path`(
        _ text: String,
        _ faults: [String]
    ) throws {
        #expect(try Self.faults(text).sorted() == faults.sorted())
    }

    @Test func `is doubted where it is legal and odd`() throws {
        let json = try JSONValue(
            parsing: Array(
                #"""
                {"tiers":["free","pro"],
                 "features":[{"id":"sold"},{"id":"lonely"},{"id":"tried"},{"id":"varied"}],
                 "products":[{"id":"coffee","kind":"consumable","unlocks":{}},
                             {"id":"coins","kind":"consumable","unlocks":{"features":["lonely"]}},
                             {"id":"one","kind":"non_consumable","unlocks":{"features":["sold"]}}],
                 "trials":[{"id":"t","days":7,"features":["tried"]},{"id":"none","days":0}],
                 "experiments":[{"id":"x","variants":[{"id":"a","weight":1,"overrides":
                   {"features":[{"id":"varied","level":"free"}]}}]}]}
                """#.utf8
            )
        )
        #expect(
            try Catalog(document: json).doubts.map { "\($0.code.rawValue) \($0.path)" } == [
                "unsold_feature features[1]", "opens_nothing products[0].unlocks",
                "consumable_unlocks products[1].unlocks", "empty_trial trials[1]",
            ]
        )
    }

    // What nothing reads is the app's own, unless it is spelt nearly as what is read.
    @Test func `a member that is misspelt is doubted, an app's own is not`() throws {
        let document = try JSONValue(
            parsing: Array(
                #"""
                {"tiers":["free","pro"],
                 "features":[{"id":"a","levl":"free","texts":{"en":"A"},
                   "limits":{"free":{"perPeriod":{"count":1,"period":"day","timezone":"UTC"}}}}],
                 "products":[{"id":"p","kind":"non_consumable","unlcks":{"tier":"pro"},"colour":1,
                   "unlocks":{"teir":"pro"}}],
                 "trials":[{"id":"t","dys":7,"days":7,"tier":"pro"}],
                 "experiments":[{"id":"e","variants":[{"id":"v","wieght":1,"weight":1,
                   "overrides":{"features":[{"id":"a","level":"pro","limts":{}}]}}]}],
                 "offrings":[{"featured":true}]}
                """#.utf8
            )
        )
        let doubts = Catalog.misspeltMembers(in: document)
        #expect(
            doubts.map(\.path) == [
                "features[0].levl", "features[0].limits.free.perPeriod.timezone",
                "products[0].unlcks", "products[0].unlocks.teir", "trials[0].dys",
                "experiments[0].variants[0].wieght",
                "experiments[0].variants[0].overrides.features[0].limts", "offrings",
            ]
        )
        #expect(doubts.allSatisfy { $0.code == .unknownMember })
        #expect(doubts[0].detail.contains("mean level?"))
        #expect(doubts[2].detail.contains("mean unlocks?"))
        // The control: nothing is doubted of a catalog that is spelt well.
        let sound = try JSONValue(parsing: Array(description(document).utf8))
        #expect(Catalog.misspeltMembers(in: sound).isEmpty)
    }

    /// The document, spelt well.
    private func description(_ document: JSONValue) -> String {
        [
            ("levl", "level"), ("timezone", "timeZone"), ("unlcks", "own"), ("teir", "tier"),
            ("dys", "own"), ("wieght", "own"), ("limts", "limits"), ("offrings", "offerings"),
        ]
        .reduce(document.description) { $0.replacing("\"\($1.0)\"", with: "\"\($1.1)\"") }
    }
}
