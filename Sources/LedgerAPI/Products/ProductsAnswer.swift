package import Entitlements

/// What stores say of what they sell, as it was loaded last: `entitle products`.
package struct ProductsAnswer: Described {
    /// The catalog's products are those in force then.
    package var at: Instant
    /// Who told of products, or was asked in vain.
    package var sources: [Source]
    /// What they told, by source, in its order.
    package var products: [Product]
    /// RevenueCat's offerings.
    package var offerings: [StoreOffering]
    /// Products of the catalog of which no store told, in its order.
    package var untold: [String]

    /// Who told of products.
    package struct Source: Described {
        /// Who.
        package var source: ProductSource
        /// How they came; nil: nothing is kept.
        package var origin: ProductDocument.Origin?
        /// When; nil: nothing is kept.
        package var loadedAt: Instant?
        /// Seconds since then; nil: nothing is kept.
        package var ageSeconds: Int64?
        /// How many products are kept.
        package var products: Int
        /// Entries of the answer that were no products for sale.
        package var passedOver: Int
        /// Whether what was kept is damaged, and counts for nothing.
        package var isDamaged: Bool
        /// Why the last load since then failed; nil: none did.
        package var fault: ProductFault?

        /// Makes one.
        package init(
            source: ProductSource,
            origin: ProductDocument.Origin?,
            loadedAt: Instant?,
            ageSeconds: Int64?,
            products: Int,
            passedOver: Int,
            isDamaged: Bool,
            fault: ProductFault?
        ) {
            self.source = source
            self.origin = origin
            self.loadedAt = loadedAt
            self.ageSeconds = ageSeconds
            self.products = products
            self.passedOver = passedOver
            self.isDamaged = isDamaged
            self.fault = fault
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ProductSourceState",
            "Who told of products, or was asked in vain",
            Self.init
        ) {
            Field("source", \.source, .word)
            Field("origin", \.origin, .orNull(.word), "null: nothing is kept")
            Field("loadedAt", \.loadedAt, .orNull(.instant))
            Field("ageSeconds", \.ageSeconds, .orNull(.count)).echoed
            Field("products", \.products, .count)
            Field("passedOver", \.passedOver, .count, "Entries that were no products for sale")
            Field("isDamaged", \.isDamaged, .boolean, "What was kept counts for nothing")
            Field("fault", \.fault, .orNull(.object), "Why the last load since then failed")
        }
    }

    /// A product of a store, and what the catalog opens by it (row 1.2).
    package struct Product: Described {
        /// The catalog's product; nil: it has none that is sold so.
        package var productID: String?
        /// The tier that it opens; nil: none.
        package var tier: String?
        /// The features that it opens.
        package var features: [String]
        /// What its store says.
        package var metadata: ProductMetadata

        /// Makes one.
        package init(
            productID: String?,
            tier: String?,
            features: [String],
            metadata: ProductMetadata
        ) {
            self.productID = productID
            self.tier = tier
            self.features = features
            self.metadata = metadata
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ListedProduct",
            "A product of a store, and what the catalog opens by it",
            Self.init
        ) {
            Field("productId", \.productID, .orNull(.name), "The catalog's; null: it has none")
            Field("tier", \.tier, .orNull(.name))
            Field("features", \.features, .list(.name))
            Field("metadata", \.metadata, .object)
        }
    }

    /// Makes an answer.
    package init(
        at: Instant,
        sources: [Source],
        products: [Product],
        offerings: [StoreOffering],
        untold: [String]
    ) {
        self.at = at
        self.sources = sources
        self.products = products
        self.offerings = offerings
        self.untold = untold
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Products",
        "What stores say of what they sell, as it was loaded last",
        Self.init
    ) {
        Field("at", \.at, .instant, "The catalog is the one in force then")
        Field("sources", \.sources, .list(.object))
        Field("products", \.products, .list(.object))
        Field("offerings", \.offerings, .list(.object), "RevenueCat's")
        Field("untold", \.untold, .list(.name), "Products of which no store told")
    }
}
