import Encodings
import Entitlements
import Synchronization

/// What the catalogs say of products, worked out once for each product, so that access is a few
/// array reads (K1 to K5).
final class AccessRules: Sendable {
    /// Size of the log up to which there is no other catalog; a newer one needs new rules.
    private let checked: Atomic<UInt64>
    /// The last of the catalogs; a slot is folded with all of them.
    let lastCatalog: UInt64?
    private let catalogs: CatalogHistory
    /// Whether customers see catalogs of their own (K8): then the fold answers.
    let hasExperiments: Bool
    /// Features by id, for each publication.
    private let features: [[Name: Int]]
    private let unlocked = Mutex<[Key: FeatureSet]>([:])
    /// By the catalog that was asked for last, for products that are not kept: by their codes.
    private let current = Mutex(Current())

    private struct Key: Hashable {
        var product: UInt32
        var catalog: Int
        /// The catalog in force when it was bought, if it is kept (K3).
        var boughtUnder: Int?
    }

    /// Products that no period is kept of, by one catalog.
    private struct Current {
        var catalog: Int?
        var unlocked: [FeatureSet?] = []
    }

    /// Indices of a catalog's features, as bits.
    private struct FeatureSet {
        private var words: [UInt64]

        init(count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

        mutating func insert(_ feature: Int) { words[feature / 64] |= 1 << UInt64(feature % 64) }

        func contains(_ feature: Int) -> Bool {
            words[feature / 64] >> UInt64(feature % 64) & 1 == 1
        }
    }

    /// `size`: of the log at which the catalogs were read.
    init(_ catalogs: CatalogHistory, size: UInt64) {
        checked = Atomic(size)
        self.catalogs = catalogs
        lastCatalog = catalogs.publications.map(\.sequence).max()
        hasExperiments = !catalogs.experiments.isEmpty
        features = catalogs.publications.map { publication in
            Dictionary(
                publication.published.features.enumerated().map { (Name($1.id), $0) },
                uniquingKeysWith: { first, _ in first }
            )
        }
    }

    /// Size of the log up to which these are its catalogs.
    var size: UInt64 { checked.load(ordering: .acquiring) }

    /// No catalog was published up to a larger size.
    func renew(at size: UInt64) {
        _ = checked.max(size, ordering: .acquiringAndReleasing)
    }

    /// Whether a slot's stretches allow a feature at an instant.
    ///
    /// `product`: of a code.
    func allows(
        _ feature: String,
        at instant: Instant,
        _ slot: AccessSlot,
        product: (UInt32) -> ProductKey
    ) -> Bool {
        guard let index = catalogs.index(at: instant) else { return false }
        guard let feature = features[index][feature] else { return false }
        if catalogs.publications[index].published.features[feature].level == 0 { return true }
        for position in 0..<slot.stretchCount {
            let stretch = slot.stretches[position]
            guard stretch.start <= instant, instant < stretch.end else { continue }
            let isUnlocked =
                stretch.isKept
                ? isKept(stretch, feature, catalog: index, product)
                : isUnlocked(feature, by: stretch.product, catalog: index, product)
            if isUnlocked { return true }
        }
        return false
    }

    private func isUnlocked(
        _ feature: Int,
        by code: UInt32,
        catalog index: Int,
        _ product: (UInt32) -> ProductKey
    ) -> Bool {
        let known: Bool? = current.withLock { current in
            guard current.catalog == index, Int(code) < current.unlocked.count else { return nil }
            return current.unlocked[Int(code)]?.contains(feature)
        }
        if let known { return known }
        let made = unlocked(by: product(code), catalog: index, boughtUnder: nil)
        current.withLock { current in
            if current.catalog != index { current = Current(catalog: index) }
            while current.unlocked.count <= Int(code) { current.unlocked.append(nil) }
            current.unlocked[Int(code)] = made
        }
        return made.contains(feature)
    }

    /// Whether a feature stays open because it was bought while the product unlocked it (K3).
    private func isKept(
        _ stretch: AccessSlot.Stretch,
        _ feature: Int,
        catalog index: Int,
        _ product: (UInt32) -> ProductKey
    ) -> Bool {
        let key = Key(
            product: stretch.product,
            catalog: index,
            boughtUnder: catalogs.index(at: stretch.keptSince)
        )
        if let known = unlocked.withLock({ $0[key] }) { return known.contains(feature) }
        let made = unlocked(
            by: product(stretch.product),
            catalog: index,
            boughtUnder: key.boughtUnder
        )
        unlocked.withLock { $0[key] = made }
        return made.contains(feature)
    }

    private func unlocked(
        by product: ProductKey,
        catalog index: Int,
        boughtUnder start: Int?
    ) -> FeatureSet {
        let catalog = catalogs.publications[index].published
        var features = FeatureSet(count: catalog.features.count)
        if let sold = catalog.product(product.productID, in: product.store) {
            for feature in catalog.unlocked(by: sold.unlocks) { features.insert(feature) }
        }
        if let start {
            let old = catalogs.publications[start].published
            let bought = old.product(product.productID, in: product.store)
            for feature in bought.map({ old.unlocked(by: $0.unlocks) }) ?? [] {
                if let index = catalog.featureIndex(old.features[feature].id) {
                    features.insert(index)
                }
            }
        }
        return features
    }
}
