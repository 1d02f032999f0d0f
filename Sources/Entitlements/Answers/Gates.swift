/// What a customer's stretches unlock at an instant, by the catalog in force there (K1 to K7).
struct Gates {
    /// Index of the catalog in `CatalogHistory.publications`; nil where none was published.
    var catalog: Int?
    /// Index of the tier in that catalog (K7).
    var tier = 0
    /// For each feature of that catalog, what unlocks it; unordered.
    var sources: [[AccessSource]] = []
    /// Store product ids with access that the catalog does not know (K4).
    var unmapped: Set<String> = []
}

/// Evaluates gates at instants and remembers what each product unlocks by each catalog.
struct GateReader {
    let timeline: CustomerTimeline
    private var rights: [RightKey: Unlocked] = [:]

    private struct RightKey: Hashable {
        var catalog: Int
        var right: AccessStretch.ProductRight
    }

    /// What a product unlocks at T, as feature indices of the catalog in force at T.
    private struct Unlocked {
        var features: [Int]
        var tier: Int
        var isKnown: Bool
    }

    init(_ timeline: CustomerTimeline) { self.timeline = timeline }

    /// The gates at an instant.
    ///
    /// Cost: linear in the stretches.
    mutating func gates(at instant: Instant) -> Gates {
        guard let index = timeline.catalogs.index(at: instant) else { return Gates() }
        let catalog = timeline.catalogs.publications[index].catalog
        var gates = Gates(
            catalog: index,
            sources: Array(repeating: [], count: catalog.features.count)
        )
        for stretch in timeline.stretches where stretch.interval.contains(instant) {
            switch stretch.right {
            case .product(let right):
                let unlocked = unlocked(by: right, catalog: index)
                if !unlocked.isKnown { gates.unmapped.insert(right.productID) }
                gates.unlock(unlocked.features, unlocked.tier, stretch.source)
            case .named(let features, let tier):
                let unlocks = Catalog.Unlocks(
                    features: features,
                    tier: tier.flatMap(catalog.tierIndex),
                    all: false
                )
                gates.unlock(
                    catalog.unlocked(by: unlocks),
                    unlocks.tier ?? 0,
                    stretch.source
                )
            }
        }
        return gates
    }

    private mutating func unlocked(
        by right: AccessStretch.ProductRight,
        catalog index: Int
    ) -> Unlocked {
        let key = RightKey(catalog: index, right: right)
        if let known = rights[key] { return known }
        let catalog = timeline.catalogs.publications[index].catalog
        let product = catalog.product(right.productID, in: right.store)
        var features = product.map { catalog.unlocked(by: $0.unlocks) } ?? []
        var tier = product.flatMap { catalog.countedTier(of: $0.unlocks) } ?? 0
        if let start = right.keptSince, let old = timeline.catalogs.catalog(at: start),
            let bought = old.product(right.productID, in: right.store)
        {
            // K3: what was bought is never lost; features and levels are those of that catalog.
            let kept = old.unlocked(by: bought.unlocks).compactMap {
                catalog.featureIndex(old.features[$0].id)
            }
            features = Set(features + kept).sorted()
            tier = max(tier, keptTier(bought.unlocks, from: old, in: catalog))
        }
        let unlocked = Unlocked(features: features, tier: tier, isKnown: product != nil)
        rights[key] = unlocked
        return unlocked
    }

    /// K3: the tier that was bought counts if the catalog at T lists it; `all` is the highest.
    private func keptTier(_ unlocks: Catalog.Unlocks, from old: Catalog, in new: Catalog) -> Int {
        if unlocks.all { return new.tiers.count - 1 }
        return unlocks.tier.flatMap { new.tierIndex(old.tiers[$0]) } ?? 0
    }
}

extension Gates {
    fileprivate mutating func unlock(_ features: [Int], _ tier: Int, _ source: AccessSource) {
        self.tier = max(self.tier, tier)
        for feature in features where !sources[feature].contains(source) {
            sources[feature].append(source)
        }
    }

    /// K5, with the reason that interfaces.md shows: the first that holds.
    func reason(feature index: Int, in catalog: Catalog) -> AccessReason {
        if catalog.features[index].level == 0 { return .free }
        return sources[index].map(\.reason).min() ?? .none
    }
}
