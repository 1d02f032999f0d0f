import Encodings

/// Something in a catalog that is legal and probably not meant.
public struct CatalogDoubt: Hashable, Sendable {
    /// What it is.
    public var code: Code
    /// Where, such as `features[2]`.
    public var path: String
    /// A sentence.
    public var detail: String

    /// The closed set of doubts.
    public enum Code: String, Sendable {
        /// A feature above `free` that no product, trial or variant opens.
        case unsoldFeature = "unsold_feature"
        /// A product that opens nothing: a donation, or something forgotten.
        case opensNothing = "opens_nothing"
        /// A consumable with something to unlock: it gives no access (P8).
        case consumableUnlocks = "consumable_unlocks"
        /// A trial that opens nothing or lasts no day.
        case emptyTrial = "empty_trial"
        /// A member that nothing reads and that is spelt nearly as one that is read.
        case unknownMember = "unknown_member"
    }
}

extension Catalog {
    /// What is legal and odd, in the order of the document.
    public var doubts: [CatalogDoubt] {
        unreachable.map {
            CatalogDoubt(code: .unsoldFeature, path: "features[\($0)]", detail: "nothing opens it")
        } + products.indices.flatMap(doubts(ofProduct:))
            + trials.indices.filter { isEmpty(trials[$0]) }.map {
                CatalogDoubt(
                    code: .emptyTrial,
                    path: "trials[\($0)]",
                    detail: "opens nothing, or lasts no day"
                )
            }
    }

    /// Places of the features that nobody can come to have, in no variant.
    private var unreachable: [Int] {
        var lowest: [Name: Int] = [:]
        for override in experiments.flatMap(\.variants).flatMap(\.overrides) {
            guard let level = override.level else { continue }
            let feature = Name(override.feature)
            lowest[feature] = min(lowest[feature] ?? level, level)
        }
        let sold = products.filter { $0.kind != .consumable }.map(\.unlocks)
        guard !sold.contains(where: \.all) else {
            return []
        }
        let named = Set(texts: sold.flatMap(\.features) + trials.flatMap(\.features))
        let tiers = sold.compactMap(\.tier) + trials.compactMap { $0.tier.flatMap(tierIndex) }
        let highest = tiers.max() ?? 0
        return features.indices.filter { index in
            let feature = features[index]
            let level = min(feature.level, lowest[feature.id] ?? feature.level)
            return level > highest && !named.contains(feature.id)
        }
    }

    private func doubts(ofProduct index: Int) -> [CatalogDoubt] {
        let unlocks = products[index].unlocks
        let isEmpty = !unlocks.all && unlocks.features.isEmpty && (unlocks.tier ?? 0) == 0
        if isEmpty {
            return [
                CatalogDoubt(
                    code: .opensNothing,
                    path: "products[\(index)].unlocks",
                    detail: "the product opens nothing"
                )
            ]
        }
        guard products[index].kind == .consumable else { return [] }
        return [
            CatalogDoubt(
                code: .consumableUnlocks,
                path: "products[\(index)].unlocks",
                detail: "a consumable gives no access"
            )
        ]
    }

    private func isEmpty(_ trial: Trial) -> Bool {
        trial.days == 0
            || trial.features.isEmpty && (trial.tier.flatMap(tierIndex) ?? 0) == 0
    }
}
