package import Encodings
import Synchronization

/// The catalogs of a prefix of the log, over effective time (K1).
package struct CatalogHistory: Sendable {
    /// One publication.
    package struct Publication: Sendable {
        /// From when it is in force.
        package var time: Instant
        /// Place of its event in the log; a tie in time goes to the later.
        package var sequence: UInt64
        /// What was published.
        private let content: SeenCatalog
        /// Who looks at it; nil: nobody in particular.
        fileprivate var sight: Sight?

        /// Makes a publication.
        package init(time: Instant, sequence: UInt64, catalog: Catalog) {
            self.time = time
            self.sequence = sequence
            content = SeenCatalog(
                catalog,
                featureOrder: catalog.features.indices.sorted {
                    catalog.features[$0].id.precedes(catalog.features[$1].id)
                }
            )
        }

        /// What was published.
        package var published: Catalog { content.catalog }

        /// Its policy.
        fileprivate var policy: Catalog.Policy { content.catalog.policy }

        /// Places of the features in the order of their ids.
        fileprivate var featureOrder: [Int] { content.featureOrder }

        /// What was published, as who looks at it sees it (K8).
        var seen: SeenCatalog { sight?.catalog(of: self) ?? content }

        /// See `seen`.
        package var catalog: Catalog { seen.catalog }
    }

    /// A catalog that many look into: to hand it on counts one reference, where the catalog itself
    /// counts as many as it has lists.
    final class SeenCatalog: Sendable {
        let catalog: Catalog
        /// Places of the features in the order of their ids.
        let featureOrder: [Int]

        fileprivate init(_ catalog: Catalog, featureOrder: [Int]) {
            self.catalog = catalog
            self.featureOrder = featureOrder
        }
    }

    /// Publications, ascending by `(time, sequence)`.
    package struct Publications: RandomAccessCollection, Sendable {
        fileprivate let published: [Publication]
        fileprivate var sight: Sight?

        /// Where they begin.
        package var startIndex: Int { 0 }
        /// How many they are.
        package var endIndex: Int { published.count }

        /// One of them, as who looks at them sees it.
        package subscript(index: Int) -> Publication {
            var publication = published[index]
            if let sight, !publication.published.experiments.isEmpty {
                publication.sight = sight
            }
            return publication
        }
    }

    /// What a customer sees of catalogs (K8), worked out for each when it is first looked at: most
    /// are not in force at any time that matters to the customer.
    fileprivate final class Sight: Sendable {
        private let positions: [Name: UInt64]
        private let catalogs = Mutex<[Place: SeenCatalog]>([:])

        private struct Place: Hashable {
            var time: Instant
            var sequence: UInt64
        }

        init(_ positions: [Name: UInt64]) { self.positions = positions }

        func catalog(of publication: Publication) -> SeenCatalog {
            let place = Place(time: publication.time, sequence: publication.sequence)
            if let known = catalogs.withLock({ $0[place] }) { return known }
            let seen = SeenCatalog(
                publication.published.seen { positions[$0] ?? 0 },
                featureOrder: publication.featureOrder
            )
            catalogs.withLock { $0[place] = seen }
            return seen
        }
    }

    /// Ascending by `(time, sequence)`.
    package private(set) var publications: Publications

    /// The ids of the experiments of any of them.
    package let experiments: Set<Name>

    /// Makes a history of publications in any order.
    package init(_ publications: [Publication]) {
        self.publications = Publications(
            published: publications.sorted { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
        )
        experiments = Set(texts: publications.flatMap { $0.published.experiments.map(\.id) })
    }

    /// Index of the catalog in force at an instant; nil if none was ever published (K1).
    package func index(at instant: Instant) -> Int? {
        let all = publications.published
        guard !all.isEmpty else { return nil }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].time > instant { high = middle } else { low = middle + 1 }
        }
        return max(low - 1, 0)
    }

    /// The first instant behind another one at which a catalog comes into force; nil: none does.
    package func next(after instant: Instant) -> Instant? {
        publications.published.first { $0.time > instant }?.time
    }

    /// The catalog in force at an instant (K1).
    package func catalog(at instant: Instant) -> Catalog? {
        index(at: instant).map { publications[$0].catalog }
    }

    /// The policy of the catalog in force at an instant, which nobody's experiments change (K1, K8).
    func policy(at instant: Instant) -> Catalog.Policy? {
        index(at: instant).map { publications.published[$0].policy }
    }

    /// The ids of the features that any of them lists.
    package var featureIDs: Set<Name> {
        Set(texts: publications.published.flatMap { $0.published.features.map(\.id) })
    }

    /// The tiers that any of them lists.
    package var tiers: Set<Name> {
        Set(texts: publications.published.flatMap(\.published.tiers))
    }

    /// These catalogs as a customer sees them (K8).
    ///
    /// Cost: of what is looked at then, not of how many were published.
    package func seen(position: (_ experiment: String) -> UInt64) -> CatalogHistory {
        guard !experiments.isEmpty else { return self }
        var seen = self
        seen.publications.sight = Sight(
            Dictionary(uniqueKeysWithValues: experiments.map { ($0, position($0.text)) })
        )
        return seen
    }
}
