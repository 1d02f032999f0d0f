import Encodings

/// What a customer's stretches unlock at an instant, by the catalog in force there (K1 to K7).
struct Gates {
    /// Index of the catalog in `CatalogHistory.publications`; nil where none was published.
    var catalog: Int?
    /// Index of the tier in that catalog (K7).
    var tier = 0
    /// What unlocks features of that catalog: once each, ascending by feature, then by source.
    var unlocks: [Unlock] = []
    /// Store product ids with access that the catalog does not know (K4).
    var unmapped: Set<Name> = []

    /// A source that unlocks a feature.
    struct Unlock: Comparable {
        /// Index in the catalog.
        var feature: Int
        /// Number among the sources of the timeline.
        var source: Int

        static func < (left: Unlock, right: Unlock) -> Bool {
            (left.feature, left.source) < (right.feature, right.source)
        }
    }

    /// What unlocks a feature.
    func unlocks(feature index: Int) -> ArraySlice<Unlock> {
        guard let first = unlocks.firstIndex(where: { $0.feature >= index }) else { return [] }
        return unlocks[first...].prefix { $0.feature == index }
    }

    /// K5: whether a feature of the catalog in force is allowed.
    func isAllowed(feature index: Int, in catalog: Catalog) -> Bool {
        catalog.features[index].level == 0 || unlocks.contains { $0.feature == index }
    }
}

/// Evaluates gates at instants and remembers what each right unlocks by the catalog in force.
struct GateReader {
    let timeline: CustomerTimeline
    /// The sources of the timeline by their numbers.
    let sources: [AccessSource]
    /// The catalog that the last gates were read in.
    private var catalog: Int?
    /// What rights unlock by that catalog, by their numbers.
    private var unlocked: [Unlocked?]
    /// The stretches that were open at the last gates.
    private var open: [Int] = []
    private var last = Gates()

    /// What a right unlocks at T, as feature indices of the catalog in force at T.
    struct Unlocked {
        /// Ascending.
        var features: [Int]
        var tier: Int
        var isKnown: Bool
    }

    init(_ timeline: CustomerTimeline) {
        self.timeline = timeline
        var sources: [AccessSource] = []
        for stretch in timeline.stretches {
            // A source without a stretch of its own is never asked for.
            while sources.count <= stretch.sourceNumber { sources.append(stretch.source) }
        }
        self.sources = sources
        unlocked = Array(repeating: nil, count: (timeline.stretches.last?.rightNumber ?? 0) + 1)
    }

    /// The gates at an instant.
    ///
    /// Cost: linear in the stretches; little where the same ones are open as at the last instant.
    mutating func gates(at instant: Instant) -> Gates {
        guard let index = timeline.catalogs.index(at: instant) else { return Gates() }
        if index != catalog {
            catalog = index
            for right in unlocked.indices { unlocked[right] = nil }
        } else if isOpenAsBefore(instant) {
            return last
        }
        open.removeAll(keepingCapacity: true)
        var gates = Gates(catalog: index)
        for position in timeline.stretches.indices
        where timeline.stretches[position].interval.contains(instant) {
            open.append(position)
            let stretch = timeline.stretches[position]
            let unlocked = unlocked(by: stretch, catalog: index)
            if !unlocked.isKnown, case .product(let right) = stretch.right {
                gates.unmapped.insert(Name(right.productID))
            }
            gates.tier = max(gates.tier, unlocked.tier)
            gates.unlocks += unlocked.features.map {
                Gates.Unlock(feature: $0, source: stretch.sourceNumber)
            }
        }
        if open.count > 1 { gates.sortUnlocks() }
        last = gates
        return gates
    }

    private func isOpenAsBefore(_ instant: Instant) -> Bool {
        var count = 0
        for position in timeline.stretches.indices
        where timeline.stretches[position].interval.contains(instant) {
            guard count < open.count, open[count] == position else { return false }
            count += 1
        }
        return count == open.count
    }

    private mutating func unlocked(by stretch: AccessStretch, catalog index: Int) -> Unlocked {
        if let known = unlocked[stretch.rightNumber] { return known }
        let seen = timeline.catalogs.publications[index].seen
        let made =
            switch stretch.right {
            case .product(let right): unlocked(by: right, in: seen.catalog)
            case .named(let features, let tier): Self.unlocked(features, tier, in: seen.catalog)
            }
        unlocked[stretch.rightNumber] = made
        return made
    }

    /// What a grant or trial unlocks by a catalog (C3, C4).
    static func unlocked(
        _ features: [String],
        _ tier: String?,
        in catalog: Catalog
    ) -> Unlocked {
        let unlocks = Catalog.Unlocks(
            features: features,
            tier: tier.flatMap(catalog.tierIndex),
            all: false
        )
        return Unlocked(
            features: catalog.unlocked(by: unlocks),
            tier: unlocks.tier ?? 0,
            isKnown: true
        )
    }

    /// What a product's right unlocks by a catalog (K2, K3, K4).
    func unlocked(by right: AccessStretch.ProductRight, in catalog: Catalog) -> Unlocked {
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
        return Unlocked(features: features, tier: tier, isKnown: product != nil)
    }

    /// K3: the tier that was bought counts if the catalog at T lists it; `all` is the highest.
    private func keptTier(_ unlocks: Catalog.Unlocks, from old: Catalog, in new: Catalog) -> Int {
        if unlocks.all { return new.tiers.count - 1 }
        return unlocks.tier.flatMap { new.tierIndex(old.tiers[$0]) } ?? 0
    }

    /// K5, with the reason that answers show: the first that holds.
    func reason(_ gates: Gates, feature index: Int, in catalog: Catalog) -> AccessReason {
        if catalog.features[index].level == 0 { return .free }
        return gates.unlocks(feature: index).map { sources[$0.source].reason }.min() ?? .none
    }
}

extension Gates {
    /// Two stretches of one source unlock a feature once.
    fileprivate mutating func sortUnlocks() {
        unlocks.sort()
        var unique: [Unlock] = []
        unique.reserveCapacity(unlocks.count)
        for unlock in unlocks where unique.last != unlock { unique.append(unlock) }
        unlocks = unique
    }
}
