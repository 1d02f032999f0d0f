package import Entitlements

/// Who tells of products (rows 1.1, 1.3).
package enum ProductSource: String, CaseIterable, Sendable {
    case appStore = "app_store"
    case playStore = "play_store"
    /// Second to the stores themselves.
    case revenueCat = "revenuecat"
}

/// The products of one source as they were loaded last: what is kept, and read without a network.
package struct ProductDocument: Described {
    /// Who told of them.
    package var source: ProductSource
    /// How they came.
    package var origin: Origin
    /// When.
    package var loadedAt: Instant
    /// Entries of the answer that were no products for sale.
    package var passedOver: Int
    /// In the source's order; never none.
    package var products: [StoreProduct]
    /// RevenueCat's.
    package var offerings: [StoreOffering]

    /// How products come.
    package enum Origin: String, CaseIterable, Sendable {
        /// From a StoreKit configuration of Xcode.
        case storeKitFile = "storekit_file"
        /// From the source's API.
        case api
    }

    /// Makes a document.
    package init(
        source: ProductSource,
        origin: Origin,
        loadedAt: Instant,
        passedOver: Int,
        products: [StoreProduct],
        offerings: [StoreOffering]
    ) {
        self.source = source
        self.origin = origin
        self.loadedAt = loadedAt
        self.passedOver = passedOver
        self.products = products
        self.offerings = offerings
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ProductDocument",
        "The products of one source as they were loaded last",
        Self.init
    ) {
        Field("source", \.source, .word)
        Field("origin", \.origin, .word)
        Field("loadedAt", \.loadedAt, .instant)
        Field("passedOver", \.passedOver, .count)
        Field("products", \.products, .list(.object))
        Field("offerings", \.offerings, .list(.object))
    }
}

/// Why products could not be loaded; what was kept is kept (row 1.5).
package struct ProductFault: Described {
    /// When it was tried.
    package var at: Instant
    /// Why.
    package var code: Code
    /// A sentence; names nobody.
    package var detail: String

    /// Why products could not be loaded.
    package enum Code: String, CaseIterable, Sendable {
        /// No whole answer, or one that the store is at fault for.
        case unavailable
        /// The store was asked too often.
        case rateLimited = "rate_limited"
        /// The store failed often of late, and is left alone for a while.
        case resting
        /// The store knows nothing of the app or the project.
        case notFound = "not_found"
        /// The store does not let us ask: the key, or its rights.
        case notPermitted = "not_permitted"
        /// The store does not understand what was asked.
        case rejected
        /// The answer, or the file, is not what it should be.
        case malformed
        /// The answer has no product that is for sale: nobody's products are replaced by nothing.
        case empty
        /// The answer is more than is kept.
        case tooLarge = "too_large"
    }

    /// Makes a fault.
    package init(at: Instant, code: Code, detail: String) {
        self.at = at
        self.code = code
        self.detail = detail
    }

    /// Whether the same question may be answered later.
    package var isTransient: Bool {
        switch code {
        case .unavailable, .rateLimited, .resting, .notPermitted, .empty: true
        case .notFound, .rejected, .malformed, .tooLarge: false
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ProductFault",
        "Why products could not be loaded",
        Self.init
    ) {
        Field("at", \.at, .instant)
        Field("code", \.code, .word)
        Field("detail", \.detail, .text)
    }
}
