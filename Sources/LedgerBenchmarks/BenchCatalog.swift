import Encodings
import Entitlements

/// The catalog of the benchmark's ledgers: three tiers, eight features, one limit.
enum BenchCatalog {
    /// The feature that access is asked for.
    static let feature = "export"

    /// The document, as an event of 2000.
    static var event: Event {
        Event(
            id: "bench-catalog",
            source: Source.catalog,
            subject: .catalog,
            time: Instant.earliest,
            data: EventData(
                recorded: .catalogPublished,
                entries: [],
                document: document(isSelling: true)
            )
        )
    }

    /// The document; one that does not sell has products that unlock nothing.
    static func document(isSelling: Bool) -> JSONValue {
        let names = ["export", "sync", "themes", "widgets", "history", "offline", "share"]
        let scan = JSONValue.members([
            "id": "scan", "level": "free",
            "limits": .members([
                "free": .members([
                    "perPeriod": .members(["count": .integer(20), "period": "month"])
                ])
            ]),
        ])
        let features = names.enumerated().map { index, name in
            JSONValue.members([
                "id": .string(name), "level": index.isMultiple(of: 2) ? "premium" : "plus",
            ])
        }
        return .members([
            "tiers": .strings([Catalog.freeTier, "plus", "premium"]),
            "features": .array(features + [scan]),
            "products": .array(
                ["plus", "premium"].map { tier in
                    .members([
                        "id": .string(tier + "_monthly"), "kind": "auto_renewable",
                        "unlocks": isSelling
                            ? .members(["tier": .string(tier)]) : .object([]),
                    ])
                }
            ),
        ])
    }
}
