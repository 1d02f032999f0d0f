import Encodings

/// What a store says of something that it sells: names, prices, periods, offers (row 1.1).
///
/// It gives nobody anything: what a product unlocks is the catalog's to say (row 1.2, K9).
package struct StoreProduct: Hashable, Sendable {
    /// The store that sells it, such as `app_store`.
    package var store: String
    /// The store's product id.
    package var id: String
    /// The base plan or purchase option by which Google Play sells it; nil: its store has no such.
    package var plan: String?
    /// Its kind; nil: the store does not say.
    package var kind: ProductKind?
    /// How long one of its periods lasts (ISO 8601, such as `P1M`); nil: it has none, or is not said.
    package var period: String?
    /// The App Store's group of subscriptions, of which a customer has one; nil: none is said.
    package var group: String?
    /// Its names, each in another language, in the store's order.
    package var texts: [Text]
    /// What it costs, each in another country, in the store's order.
    package var prices: [Price]
    /// What it may cost at first, in the store's order.
    package var offers: [Offer]

    /// Names what is known of a product.
    package init(
        store: String,
        id: String,
        plan: String? = nil,
        kind: ProductKind? = nil,
        period: String? = nil,
        group: String? = nil,
        texts: [Text] = [],
        prices: [Price] = [],
        offers: [Offer] = []
    ) {
        self.store = store
        self.id = id
        self.plan = plan
        self.kind = kind
        self.period = period
        self.group = group
        self.texts = texts
        self.prices = prices
        self.offers = offers
    }

    /// What it is called in a language.
    package struct Text: Hashable, Sendable {
        /// A language tag (BCP 47).
        package var locale: String
        /// One line.
        package var name: String
        /// Nil: there is none.
        package var description: String?

        /// Names a text.
        package init(locale: String, name: String, description: String? = nil) {
            self.locale = locale
            self.name = name
            self.description = description
        }
    }

    /// What it costs in a country.
    package struct Price: Hashable, Sendable {
        /// The country (ISO 3166-1 alpha-2).
        package var storefront: String
        /// Millionths of the currency's unit: not negative, exact (Stores, rule 8).
        package var micros: Int64
        /// ISO 4217.
        package var currency: String

        /// Names a price.
        package init(storefront: String, micros: Int64, currency: String) {
            self.storefront = storefront
            self.micros = micros
            self.currency = currency
        }
    }

    /// What a subscription may cost at first, or for a while.
    package struct Offer: Hashable, Sendable {
        /// The store's id of it; nil: it has none.
        ///
        /// Parts of one offer share it, in their order.
        package var id: String?
        /// Whom it is for.
        package var kind: OfferKind
        /// How it is paid.
        package var mode: PaymentMode
        /// How long one of its periods lasts (ISO 8601); nil: not said.
        package var period: String?
        /// How many periods it is for, from 1.
        package var count: Int64
        /// What a period costs, each in another country; none: nothing, or it is not said as an amount.
        package var prices: [Price]

        /// Names an offer.
        package init(
            id: String? = nil,
            kind: OfferKind,
            mode: PaymentMode,
            period: String? = nil,
            count: Int64 = 1,
            prices: [Price] = []
        ) {
            self.id = id
            self.kind = kind
            self.mode = mode
            self.period = period
            self.count = count
            self.prices = prices
        }
    }

    /// Whom an offer is for.
    package enum OfferKind: String, CaseIterable, Sendable {
        /// Who never had it.
        case introductory
        /// Whom the app chooses.
        case promotional
        /// Who has a code.
        case code
        /// Who had it and left.
        case winBack = "win_back"
    }

    /// How an offer is paid.
    package enum PaymentMode: String, CaseIterable, Sendable {
        /// It is a trial.
        case free
        /// Each period by itself.
        case payAsYouGo = "pay_as_you_go"
        /// All at once.
        case payUpFront = "pay_up_front"
    }
}

extension StoreProduct {
    /// The ids under which catalogs and RevenueCat name it: the store's id, and with a plan
    /// `ID:PLAN` too (K9).
    package var names: [String] { [id] + (plan.map { [id + ":" + $0] } ?? []) }

    /// The language that is shown where the one asked for is not there.
    private static let fallback = "en"

    /// Its text for a language: that of the tag, else of the longest one that the tag begins with, or of
    /// a country of that language; else English, else the first; nil where there are none.
    ///
    /// Cost: linear in the texts times the tag's subtags.
    package func text(for tag: LanguageTag?) -> Text? {
        let tags = texts.map { Name($0.locale.lowercased()) }
        for range in (tag?.ranges ?? []) + [Self.fallback] {
            // Stores name English by its countries.
            let found =
                tags.firstIndex(of: Name(range))
                ?? tags.firstIndex { $0.text.hasPrefix(range + "-") }
            if let found { return texts[found] }
        }
        return texts.first
    }
}

extension [StoreProduct.Price] {
    /// The price in a country; without one the only price that there is.
    ///
    /// Nil: there is none, or which of several is not said.
    package func price(in storefront: Storefront?) -> StoreProduct.Price? {
        guard let storefront else { return count == 1 ? first : nil }
        return first { $0.storefront.isSame(as: storefront.code) }
    }
}
