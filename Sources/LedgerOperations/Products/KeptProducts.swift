import DurableFiles
import Encodings
package import Entitlements
package import LedgerAPI
import Synchronization

/// What stores say of their products, as it is kept, held in memory: answered without a network
/// (row 1.4), and read again once its files are others.
package final class KeptProducts: Sendable {
    private let files: ProductFiles
    private let state = Mutex(State())

    private struct State {
        var sources: [ProductSource: Loaded] = [:]
    }

    /// One source as it was read.
    struct Loaded: Sendable {
        var versions: [FileVersion?]
        /// Nil: nothing is kept, or what is kept is damaged.
        var document: ProductDocument?
        var isDamaged: Bool
        /// Why the last load since then failed; nil: none did.
        var fault: ProductFault?
        /// The stores of its products, in order.
        var stores: [String] = []
        /// Places of products by the names of each in its store (K9).
        var places: [Name: [Int]] = [:]
    }

    /// Those of a ledger's directory.
    package convenience init(ofLedgerAt ledgerPath: String) {
        self.init(ProductFiles(ofLedgerAt: ledgerPath))
    }

    /// Those of some files.
    init(_ files: ProductFiles) { self.files = files }

    /// What is kept of each source, of the stores first.
    ///
    /// Cost: two questions to the file system for each source; where a file is another, reading it.
    ///
    /// - Throws: `FileFault` where the system does not tell of a file.
    func current() throws -> [(source: ProductSource, loaded: Loaded)] {
        try ProductSource.allCases.map { source in
            let versions = try files.versions(of: source)
            let known = state.withLock { $0.sources[source] }
            if let known, known.versions == versions { return (source, known) }
            let loaded = read(source, versions)
            state.withLock { $0.sources[source] = loaded }
            return (source, loaded)
        }
    }

    /// The sources of which what is kept is damaged, and is not shown.
    ///
    /// - Throws: `FileFault` where the system does not tell of a file.
    package func damaged() throws -> [ProductSource] {
        try current().filter(\.loaded.isDamaged).map(\.source)
    }

    private func read(_ source: ProductSource, _ versions: [FileVersion?]) -> Loaded {
        var loaded = Loaded(versions: versions, document: nil, isDamaged: false)
        switch files.kept(of: source) {
        case .nothing: break
        case .damaged: loaded.isDamaged = true
        case .whole(let document):
            loaded.document = document
            loaded.stores = Set(texts: document.products.map(\.store)).texts
            for (place, product) in document.products.enumerated() {
                for name in product.names {
                    loaded.places[Self.key(name, in: product.store), default: []].append(place)
                }
            }
        }
        let fault = files.fault(of: source)
        // A load that went well may have left the note of an older fault.
        loaded.fault = fault.flatMap { fault in
            loaded.document.map { fault.at < $0.loadedAt } ?? false ? nil : fault
        }
        return loaded
    }

    private static func key(_ name: String, in store: String) -> Name { Name(store + "/" + name) }
}

/// What it is asked for.
extension KeptProducts {
    /// How products are shown.
    package struct View: Sendable {
        /// The language of names and prices; nil: English.
        var locale: LanguageTag?
        /// The country of prices; nil: where there is one price alone.
        var storefront: Storefront?
        /// Now: products have an age.
        package var now: Instant

        /// Names a view.
        package init(locale: LanguageTag?, storefront: Storefront?, now: Instant) {
            self.locale = locale
            self.storefront = storefront
            self.now = now
        }
    }

    /// Adds to each product of an offering what its stores say of it (row 1.1).
    ///
    /// A product that its own store does not tell of is RevenueCat's to tell (row 1.3).
    ///
    /// Cost: linear in what is shown; see ``current()``.
    ///
    /// - Throws: `FileFault` where the system does not tell of a file.
    package func join(_ offering: inout OfferingAnswer, _ view: View) throws {
        let loaded = try current()
        for index in offering.products.indices {
            offering.products[index].metadata = Self.metadata(
                of: offering.products[index],
                loaded,
                view
            )
        }
    }

    private static func metadata(
        of product: OfferingAnswer.Product,
        _ loaded: [(source: ProductSource, loaded: Loaded)],
        _ view: View
    ) -> [ProductMetadata] {
        var found: [ProductMetadata] = []
        var told: Set<Name> = []
        for (_, loaded) in loaded {
            guard let document = loaded.document else { continue }
            var new: Set<Name> = []
            // A catalog may name a subscription and its plan, both.
            var shown: Set<Int> = []
            for store in loaded.stores {
                for id in product.storeProductIDs(in: store) {
                    let key = key(id, in: store)
                    guard !told.contains(key), let places = loaded.places[key] else { continue }
                    new.insert(key)
                    found += places.filter { shown.insert($0).inserted }.map {
                        ProductMetadata(document.products[$0], of: document, view)
                    }
                }
            }
            told.formUnion(new)
        }
        return found
    }
}

extension OfferingAnswer.Product {
    /// The ids under which a store sells it (K9).
    fileprivate func storeProductIDs(in store: String) -> [String] {
        let keys = AppleStore.keys(of: store)
        let given = [keys.first, keys.second].compactMap { $0.flatMap { stores[$0] } }
        return given.isEmpty ? [id] : given.flatMap(\.self)
    }
}
