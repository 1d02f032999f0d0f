package import Encodings
package import Entitlements

/// What a paywall shows (rows 4.4, 1.1, B7): `GET /v1/offerings`.
package struct OfferingAnswer: Described {
    /// Whose closed gate leads there; nil: at large.
    package var feature: String?
    /// T.
    package var at: Instant
    /// What is shown, in its order.
    package var products: [Product]

    /// A product as it is shown.
    package struct Product: Described {
        /// The catalog's id.
        package var id: String
        /// Its kind.
        package var kind: ProductKind
        /// The tier that it opens; nil: none.
        package var tier: String?
        /// The features that it opens.
        package var features: [String]
        /// Its ids in the stores that say their own (K9), by store.
        package var stores: [Keyed<[String]>]
        /// The language of its text; nil: it has none.
        package var locale: String?
        /// Its text, as the catalog has it; null: it has none.
        package var text: JSONValue

        /// Makes a product.
        package init(
            id: String,
            kind: ProductKind,
            tier: String?,
            features: [String],
            stores: [Keyed<[String]>],
            locale: String?,
            text: JSONValue
        ) {
            self.id = id
            self.kind = kind
            self.tier = tier
            self.features = features
            self.stores = stores
            self.locale = locale
            self.text = text
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "OfferedProduct",
            "A product as a paywall shows it",
            Self.init
        ) {
            Field("productId", \.id, .name)
            Field("kind", \.kind, .productKind)
            Field("tier", \.tier, .orNull(.name))
            Field("features", \.features, .list(.name))
            Field("stores", \.stores, .map(.list(.text)), "Its ids in stores that say their own")
            Field("locale", \.locale, .orNull(.text), "The language of its text")
            Field("text", \.text, .anything, "As the catalog has it; null: it has none")
        }
    }

    /// Makes an answer.
    package init(feature: String?, at: Instant, products: [Product]) {
        self.feature = feature
        self.at = at
        self.products = products
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Offering", "What a paywall shows", Self.init) {
        Field("feature", \.feature, .orNull(.name), "Whose closed gate leads there")
        Field("at", \.at, .instant)
        Field("products", \.products, .list(.object))
    }
}
