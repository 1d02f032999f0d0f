public import Encodings
import Entitlements

/// Who gains and who loses by another catalog: the `whatif` shape.
public struct WhatIfReport: Sendable {
    /// The shape (Interfaces, "Shapes").
    public let json: JSONValue
    /// Customers who were compared.
    public let customers: UInt64
    /// Customers who gain a feature.
    public let gaining: UInt64
    /// Customers who lose one.
    public let losing: UInt64

    /// Gives numbers their names.
    ///
    /// `entry`: the members of a listed gain or loss.
    init(
        _ question: WhatIfQuestion,
        size: UInt64,
        _ tally: WhatIfTally,
        entry: (AccessChange.Feature, UInt64) throws -> [JSONMember]
    ) throws {
        customers = tally.customers
        gaining = tally.affected.gaining
        losing = tally.affected.losing
        var known: Instant?
        if case .instant(let instant) = question.point.knownAt { known = instant }
        func listed(_ entries: [LowestEntries.Entry]) throws -> JSONValue {
            let named = try entries.map { try entry($0.feature, $0.customer) }
            return .array(
                named.map { JSONValue.object($0) }.sorted { $0.place < $1.place }
            )
        }
        let counted = tally.features.values.reduce(UInt64(0)) { $0 + $1.gaining + $1.losing }
        let (gains, losses) = (tally.gains.lowest, tally.losses.lowest)
        json = .members([
            "at": .instant(question.point.at), "known": .instant(known),
            "sequence": .integer(size), "environment": .string(question.environment.name),
            "effective": .instant(question.effective), "customers": .integer(customers),
            "gaining": .integer(gaining), "losing": .integer(losing),
            "features": .array(Self.features(tally)), "products": .array(Self.products(tally)),
            "tiers": .array(Self.tiers(tally)), "gains": try listed(gains),
            "losses": try listed(losses),
            "isComplete": .bool(UInt64(gains.count + losses.count) == counted),
        ])
    }

    private static func features(_ tally: WhatIfTally) -> [JSONValue] {
        tally.features.sorted { $0.key < $1.key }.map { id, count in
            .members([
                "feature": .string(id.text), "gaining": .integer(count.gaining),
                "losing": .integer(count.losing),
            ])
        }
    }

    private static func products(_ tally: WhatIfTally) -> [JSONValue] {
        tally.products.filter { $0.value.count.gaining + $0.value.count.losing > 0 }
            .sorted {
                ($0.key.store, Name($0.key.productID)) < ($1.key.store, Name($1.key.productID))
            }
            .map { product, counted in
                .members([
                    "store": .string(product.store), "productId": .string(product.productID),
                    "holders": .integer(counted.holders),
                    "gaining": .integer(counted.count.gaining),
                    "losing": .integer(counted.count.losing),
                ])
            }
    }

    private static func tiers(_ tally: WhatIfTally) -> [JSONValue] {
        tally.tiers.sorted {
            (Name($0.key.before), Name($0.key.after))
                < (Name($1.key.before), Name($1.key.after))
        }
        .map { move, count in
            .members([
                "before": .string(move.before), "after": .string(move.after),
                "customers": .integer(count),
            ])
        }
    }
}

extension JSONValue {
    /// By what listed gains and losses are ordered.
    fileprivate var place: (Name, Name) {
        (Name(self["customer"]?.string ?? ""), Name(self["feature"]?.string ?? ""))
    }
}
