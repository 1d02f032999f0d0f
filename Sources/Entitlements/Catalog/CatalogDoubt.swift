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
    }
}

extension Catalog {
    /// What is legal and odd, in the order of the document.
    public var doubts: [CatalogDoubt] {
        features.indices.flatMap(doubts(ofFeature:)) + products.indices.flatMap(doubts(ofProduct:))
            + trials.indices.filter { isEmpty(trials[$0]) }.map {
                CatalogDoubt(
                    code: .emptyTrial,
                    path: "trials[\($0)]",
                    detail: "opens nothing, or lasts no day"
                )
            }
    }

    private func doubts(ofFeature index: Int) -> [CatalogDoubt] {
        isReachable(index)
            ? []
            : [
                CatalogDoubt(
                    code: .unsoldFeature,
                    path: "features[\(index)]",
                    detail: "nothing opens it"
                )
            ]
    }

    /// Whether anybody can come to have a feature, in some variant at least.
    private func isReachable(_ index: Int) -> Bool {
        let feature = features[index]
        let overrides = experiments.flatMap(\.variants).flatMap(\.overrides)
        let levels =
            [feature.level] + overrides.filter { $0.feature == feature.id }.compactMap(\.level)
        let level = levels.min() ?? feature.level
        if level == 0 { return true }
        func opens(_ features: [String], _ tier: Int?, _ all: Bool) -> Bool {
            all || features.contains(feature.id) || tier.map { level <= $0 } ?? false
        }
        return products.contains {
            $0.kind != .consumable && opens($0.unlocks.features, $0.unlocks.tier, $0.unlocks.all)
        }
            || trials.contains { opens($0.features, $0.tier.flatMap(tierIndex), false) }
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
