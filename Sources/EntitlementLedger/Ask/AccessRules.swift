import Entitlements
import Synchronization

/// What the catalogs say of products, worked out once for each product, so that access is a few
/// array reads (K1 to K5).
final class AccessRules: Sendable {
    /// Size of the log at which the catalogs were read; newer catalogs need new rules.
    let lastCatalog: UInt64?
    private let catalogs: CatalogHistory
    /// Whether customers see catalogs of their own (K8): then the fold answers.
    let hasExperiments: Bool
    /// Features by id, for each publication.
    private let features: [[String: Int]]
    private let unlocked = Mutex<[Key: Set<Int>]>([:])

    private struct Key: Hashable {
        var product: UInt32
        var catalog: Int
        /// The catalog in force when it was bought, if it is kept (K3).
        var boughtUnder: Int?
    }

    init(_ catalogs: CatalogHistory, lastCatalog: UInt64?) {
        self.catalogs = catalogs
        self.lastCatalog = lastCatalog
        hasExperiments = catalogs.publications.contains { !$0.catalog.experiments.isEmpty }
        features = catalogs.publications.map { publication in
            Dictionary(
                publication.catalog.features.enumerated().map { ($1.id, $0) },
                uniquingKeysWith: { first, _ in first }
            )
        }
    }

    /// Whether a slot's stretches allow a feature at an instant; nil: the fold has to answer.
    func allows(
        _ feature: String,
        at instant: Instant,
        _ slot: AccessSlot,
        product: (UInt32) -> ProductKey
    ) -> Bool? {
        guard let index = catalogs.index(at: instant) else { return false }
        let catalog = catalogs.publications[index].catalog
        guard let feature = features[index][feature] else { return false }
        if catalog.features[feature].level == 0 { return true }
        for position in 0..<slot.stretchCount {
            let stretch = slot.stretches[position]
            guard stretch.start <= instant, instant < stretch.end else { continue }
            let key = Key(
                product: stretch.product,
                catalog: index,
                boughtUnder: stretch.isKept ? catalogs.index(at: stretch.keptSince) : nil
            )
            if unlocked(by: key, product).contains(feature) { return true }
        }
        return false
    }

    private func unlocked(by key: Key, _ product: (UInt32) -> ProductKey) -> Set<Int> {
        unlocked.withLock { known in
            if let known = known[key] { return known }
            let product = product(key.product)
            let catalog = catalogs.publications[key.catalog].catalog
            var features = Set(
                catalog.product(product.productID, in: product.store)
                    .map { catalog.unlocked(by: $0.unlocks) } ?? []
            )
            if let start = key.boughtUnder {
                let old = catalogs.publications[start].catalog
                let bought = old.product(product.productID, in: product.store)
                for feature in bought.map({ old.unlocked(by: $0.unlocks) }) ?? [] {
                    if let index = catalog.featureIndex(old.features[feature].id) {
                        features.insert(index)
                    }
                }
            }
            known[key] = features
            return features
        }
    }
}
