import Encodings
import Entitlements
import LedgerAPI

extension WhatIfAnswer {
    /// Gives numbers their names.
    ///
    /// `entry`: names a listed gain or loss.
    init(
        _ question: WhatIfQuestion,
        size: UInt64,
        _ tally: WhatIfTally,
        entry: (AccessChange.Feature, UInt64) throws -> WhatIfEntry
    ) throws {
        var known: Instant?
        if case .instant(let instant) = question.point.knownAt { known = instant }
        func listed(_ entries: [LowestEntries.Entry]) throws -> [WhatIfEntry] {
            try entries.map { try entry($0.feature, $0.customer) }.sorted { $0.place < $1.place }
        }
        let counted = tally.features.values.reduce(UInt64(0)) { $0 + $1.gaining + $1.losing }
        let (gains, losses) = (tally.gains.lowest, tally.losses.lowest)
        self.init(
            at: question.point.at,
            known: known,
            sequence: size,
            environment: question.environment,
            effective: question.effective,
            customers: tally.customers,
            gaining: tally.affected.gaining,
            losing: tally.affected.losing,
            features: Self.features(tally),
            products: Self.products(tally),
            tiers: Self.tiers(tally),
            gains: try listed(gains),
            losses: try listed(losses),
            isComplete: UInt64(gains.count + losses.count) == counted
        )
    }

    private static func features(_ tally: WhatIfTally) -> [Feature] {
        tally.features.sorted { $0.key < $1.key }.map { id, count in
            Feature(id: id.text, gaining: count.gaining, losing: count.losing)
        }
    }

    private static func products(_ tally: WhatIfTally) -> [Product] {
        tally.products.filter { $0.value.count.gaining + $0.value.count.losing > 0 }
            .sorted {
                ($0.key.store, Name($0.key.productID)) < ($1.key.store, Name($1.key.productID))
            }
            .map { product, counted in
                Product(
                    store: product.store,
                    productID: product.productID,
                    holders: counted.holders,
                    gaining: counted.count.gaining,
                    losing: counted.count.losing
                )
            }
    }

    private static func tiers(_ tally: WhatIfTally) -> [Move] {
        tally.tiers.sorted {
            (Name($0.key.before), Name($0.key.after))
                < (Name($1.key.before), Name($1.key.after))
        }
        .map { Move(before: $0.key.before, after: $0.key.after, customers: $0.value) }
    }
}

extension WhatIfEntry {
    /// By what listed gains and losses are ordered.
    fileprivate var place: (Name, Name) { (Name(customer), Name(feature)) }
}
