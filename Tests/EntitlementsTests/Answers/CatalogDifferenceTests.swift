import Encodings
import LedgerAPI
import ModelSupport
import Testing

/// What differs between two catalog documents.
struct `A difference of catalogs` {
    private static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    private static let old = #"""
        {"tiers":["free","pro"],"features":[{"id":"a"},{"id":"b","level":"free"}],
         "products":[{"id":"p","kind":"auto_renewable","unlocks":{"tier":"pro"}}],
         "trials":[{"id":"week","days":7}],"policy":{"claim":"keep"}}
        """#

    @Test(arguments: [
        // What is replaced, by what, and where the difference is.
        (#""days":7"#, #""days":8"#, "trials", ["days"]),
        (#""tier":"pro""#, #""all":true"#, "products", ["unlocks"]),
        (#"{"id":"a"}"#, #"{"id":"a","name":"A"}"#, "features", ["name"]),
        (#"{"id":"b","level":"free"}"#, #"{"id":"b"}"#, "features", ["level"]),
        (#"{"id":"a"},"#, "", "features", []),
        (#"{"id":"a"}"#, #"{"id":"a"},{"id":"c"}"#, "features", []),
        (#""trials":["#, #""experiments":[{"id":"x"}],"trials":["#, "experiments", []),
    ])
    func `names each thing that is another, came or went`(
        _ text: String,
        _ other: String,
        _ part: String,
        _ changed: [String]
    ) throws {
        let before = try Self.json(Self.old)
        let after = try Self.json(Self.old.replacing(text, with: other))
        let difference = CatalogDifference(from: before, to: after)
        for (name, changes) in [
            ("features", difference.features), ("products", difference.products),
            ("trials", difference.trials), ("experiments", difference.experiments),
        ] {
            #expect(changes.count == (name == part ? 1 : 0), "\(name)")
            if name == part { #expect(changes.first?.changed == changed) }
        }
        #expect(difference.tiers == nil && difference.policy == nil)
        #expect(difference.offerings == nil)
    }

    @Test(arguments: [
        (#"["free","pro"]"#, #"["free","plus","pro"]"#, "tiers"),
        (#""claim":"keep""#, #""claim":"transfer""#, "policy"),
        (#""trials":["#, #""offerings":{"main":["p"]},"trials":["#, "offerings"),
    ])
    func `shows what has no ids whole`(_ text: String, _ other: String, _ part: String) throws {
        let before = try Self.json(Self.old)
        let after = try Self.json(Self.old.replacing(text, with: other))
        let difference = CatalogDifference(from: before, to: after)
        let shown = try #require(AnswerText(difference).json[part])
        #expect(shown["before"] == before[part] ?? .null)
        #expect(shown["after"] == after[part] ?? .null)
        #expect(!difference.isEmpty)
    }

    @Test func `is empty between equal ones, in whatever order, and lists all of a first one`()
        throws
    {
        let document = try Self.json(Self.old)
        let turned = try Self.json(
            Self.old.replacing(
                #"{"id":"a"},{"id":"b","level":"free"}"#,
                with: #"{"id":"b","level":"free"},{"id":"a"}"#
            )
        )
        #expect(CatalogDifference(from: document, to: turned).isEmpty)
        let first = CatalogDifference(from: nil, to: document)
        #expect(first.features.map(\.id) == ["a", "b"] && first.products.count == 1)
    }
}
