package import Encodings
package import Entitlements

/// What a paywall shows (rows 4.4, 1.1, B7): `GET /v1/offerings`.
package struct OfferingAnswer: Described {
    /// Whose closed gate leads there; nil: at large.
    package var feature: String?
    /// T.
    package var at: Instant
    /// When the next catalog comes into force (Z15); nil: none does, as far as is known.
    package var validUntil: Instant?
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
        /// What its stores say of it, as it was loaded last (rows 1.1, 1.4); none: nothing was.
        package var metadata: [ProductMetadata]

        /// Makes a product.
        package init(
            id: String,
            kind: ProductKind,
            tier: String?,
            features: [String],
            stores: [Keyed<[String]>],
            locale: String?,
            text: JSONValue,
            metadata: [ProductMetadata] = []
        ) {
            self.id = id
            self.kind = kind
            self.tier = tier
            self.features = features
            self.stores = stores
            self.locale = locale
            self.text = text
            self.metadata = metadata
        }

        /// What it is called: the catalog's title, else a store's name; nil: nothing says it.
        package var name: String? {
            text["title"]?.string ?? metadata.lazy.compactMap(\.name).first
        }

        /// What it is: in the catalog's words, else in a store's; nil: nothing says it.
        package var description: String? {
            text["description"]?.string ?? metadata.lazy.compactMap(\.description).first
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "OfferedProduct",
            "A product as a paywall shows it",
            { id, kind, tier, features, stores, _, _, locale, text, metadata in
                Self(
                    id: id,
                    kind: kind,
                    tier: tier,
                    features: features,
                    stores: stores,
                    locale: locale,
                    text: text,
                    metadata: metadata
                )
            }
        ) {
            Field("productId", \.id, .name)
            Field("kind", \.kind, .productKind)
            Field("tier", \.tier, .orNull(.name))
            Field("features", \.features, .list(.name))
            Field("stores", \.stores, .map(.list(.text)), "Its ids in stores that say their own")
            Field("name", \.name, .orNull(.text), "The catalog's title, else a store's name")
            Field("description", \.description, .orNull(.text), "The catalog's, else a store's")
            Field("locale", \.locale, .orNull(.text), "The language of its text")
            Field("text", \.text, .anything, "As the catalog has it; null: it has none")
            Field("metadata", \.metadata, .list(.object), "What its stores say of it")
        }
    }

    /// Makes an answer.
    package init(
        feature: String?,
        at: Instant,
        validUntil: Instant? = nil,
        products: [Product]
    ) {
        self.feature = feature
        self.at = at
        self.validUntil = validUntil
        self.products = products
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Offering", "What a paywall shows", Self.init) {
        Field("feature", \.feature, .orNull(.name), "Whose closed gate leads there")
        Field("at", \.at, .instant).echoed
        Field(
            "validUntil",
            \.validUntil,
            .orNull(.instant),
            "When the next catalog comes into force; null: none does, as far as is known"
        )
        Field("products", \.products, .list(.object))
    }
}
