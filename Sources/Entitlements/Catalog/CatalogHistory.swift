public import Encodings

/// The catalogs of a prefix of the log, over effective time (K1).
public struct CatalogHistory: Sendable {
    /// One publication.
    public struct Publication: Sendable {
        /// From when it is in force.
        public var time: Instant
        /// Place of its event in the log; a tie in time goes to the later.
        public var sequence: UInt64
        /// What was published.
        public internal(set) var catalog: Catalog
        /// Places of the features in the order of their ids.
        let featureOrder: [Int]

        /// Makes a publication.
        public init(time: Instant, sequence: UInt64, catalog: Catalog) {
            self.time = time
            self.sequence = sequence
            self.catalog = catalog
            featureOrder = catalog.features.indices.sorted {
                catalog.features[$0].id.precedes(catalog.features[$1].id)
            }
        }
    }

    /// Ascending by `(time, sequence)`.
    public private(set) var publications: [Publication]

    /// The ids of the experiments of any of them.
    public let experiments: Set<Name>

    /// Makes a history of publications in any order.
    public init(_ publications: [Publication]) {
        self.publications = publications.sorted { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
        experiments = Set(texts: publications.flatMap { $0.catalog.experiments.map(\.id) })
    }

    /// Index of the catalog in force at an instant; nil if none was ever published (K1).
    public func index(at instant: Instant) -> Int? {
        guard !publications.isEmpty else { return nil }
        let following = publications.firstIndex { $0.time > instant } ?? publications.count
        return max(following - 1, 0)
    }

    /// The catalog in force at an instant (K1).
    public func catalog(at instant: Instant) -> Catalog? {
        index(at: instant).map { publications[$0].catalog }
    }

    /// The ids of the features that any of them lists.
    public var featureIDs: Set<Name> {
        Set(texts: publications.flatMap { $0.catalog.features.map(\.id) })
    }

    /// These catalogs as a customer sees them (K8).
    public func seen(position: (_ experiment: String) -> UInt64) -> CatalogHistory {
        guard !experiments.isEmpty else { return self }
        var seen = self
        for index in seen.publications.indices {
            seen.publications[index].catalog =
                publications[index].catalog.seen(position: position)
        }
        return seen
    }
}
