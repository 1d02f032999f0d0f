package import Entitlements

/// What a store says of a product, for somebody who looks at it: in one language, in one country.
package struct ProductMetadata: Described {
    /// Who told of it.
    package var source: ProductSource
    /// When it was loaded.
    package var loadedAt: Instant
    /// Seconds since then (row 1.4).
    package var ageSeconds: Int64
    /// The store that sells it.
    package var store: String
    /// The store's product id.
    package var storeProductID: String
    /// The base plan or purchase option of Google Play; nil: none.
    package var plan: String?
    /// Its kind; nil: the store does not say.
    package var kind: ProductKind?
    /// How long a period lasts (ISO 8601); nil: it has none, or is not said.
    package var period: String?
    /// The App Store's group of subscriptions; nil: none.
    package var group: String?
    /// The language of its name; nil: it has none.
    package var locale: String?
    /// Its name; nil: it has none.
    package var name: String?
    /// Its description; nil: it has none.
    package var description: String?
    /// What it costs; nil: nothing is said of the country that is asked for, or of one of several.
    package var price: Price?
    /// What it may cost at first.
    package var offers: [Offer]

    /// A price as people read it.
    package struct Price: Described {
        /// The country (ISO 3166-1 alpha-2).
        package var storefront: String
        /// Millionths of the currency's unit.
        package var micros: Int64
        /// ISO 4217.
        package var currency: String
        /// As it is written in the language that is asked for.
        package var text: String

        /// Makes a price.
        package init(storefront: String, micros: Int64, currency: String, text: String) {
            self.storefront = storefront
            self.micros = micros
            self.currency = currency
            self.text = text
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ShownPrice",
            "A price as people read it",
            Self.init
        ) {
            Field("storefront", \.storefront, .text, "ISO 3166-1 alpha-2")
            Field("priceMicros", \.micros, .count, "Millionths of the currency's unit")
            Field("currency", \.currency, .text(.field(.currency)))
            Field("text", \.text, .text, "As it is written in the language asked for")
        }
    }

    /// An offer as people read it.
    package struct Offer: Described {
        /// The store's id of it; nil: it has none.
        package var id: String?
        /// Whom it is for.
        package var kind: StoreProduct.OfferKind
        /// How it is paid.
        package var mode: StoreProduct.PaymentMode
        /// How long a period lasts (ISO 8601); nil: not said.
        package var period: String?
        /// How many periods it is for.
        package var count: Int64
        /// What a period costs; nil: nothing, or it is not said.
        package var price: Price?

        /// Makes an offer.
        package init(
            id: String?,
            kind: StoreProduct.OfferKind,
            mode: StoreProduct.PaymentMode,
            period: String?,
            count: Int64,
            price: Price?
        ) {
            self.id = id
            self.kind = kind
            self.mode = mode
            self.period = period
            self.count = count
            self.price = price
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ShownOffer",
            "An offer as people read it",
            Self.init
        ) {
            Field("offerId", \.id, .orNull(.text), "Parts of one offer share it, in their order")
            Field("kind", \.kind, .word)
            Field("mode", \.mode, .word)
            Field("period", \.period, .orNull(.text), "ISO 8601")
            Field("count", \.count, .count, "Periods")
            Field("price", \.price, .orNull(.object), "Of a period; null: free, or not said")
        }
    }

    /// Makes one.
    package init(
        source: ProductSource,
        loadedAt: Instant,
        ageSeconds: Int64,
        store: String,
        storeProductID: String,
        plan: String?,
        kind: ProductKind?,
        period: String?,
        group: String?,
        locale: String?,
        name: String?,
        description: String?,
        price: Price?,
        offers: [Offer]
    ) {
        self.source = source
        self.loadedAt = loadedAt
        self.ageSeconds = ageSeconds
        self.store = store
        self.storeProductID = storeProductID
        self.plan = plan
        self.kind = kind
        self.period = period
        self.group = group
        self.locale = locale
        self.name = name
        self.description = description
        self.price = price
        self.offers = offers
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ProductMetadata",
        "What a store says of a product, in one language and country",
        Self.init
    ) {
        Field("source", \.source, .word, "Who told of it")
        Field("loadedAt", \.loadedAt, .instant)
        Field("ageSeconds", \.ageSeconds, .count, "Since it was loaded").echoed
        Field("store", \.store, .text(.common(.store)))
        Field("storeProductId", \.storeProductID, .name)
        Field("plan", \.plan, .orNull(.text), "Google Play's base plan or purchase option")
        Field("kind", \.kind, .orNull(.productKind))
        Field("period", \.period, .orNull(.text), "ISO 8601")
        Field("group", \.group, .orNull(.text), "The App Store's group of subscriptions")
        Field("locale", \.locale, .orNull(.text), "The language of its name")
        Field("name", \.name, .orNull(.text))
        Field("description", \.description, .orNull(.text))
        Field("price", \.price, .orNull(.object))
        Field("offers", \.offers, .list(.object))
    }
}
