import Encodings
package import Entitlements

extension StoreProduct: Described {
    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StoreProduct",
        "What a store says of something that it sells",
        Self.init
    ) {
        Field("store", \.store, .text(.common(.store)))
        Field("storeProductId", \.id, .name)
        Field("plan", \.plan, .orNull(.text), "Google Play's base plan or purchase option")
        Field("kind", \.kind, .orNull(.productKind))
        Field("period", \.period, .orNull(.text), "ISO 8601")
        Field("group", \.group, .orNull(.text), "The App Store's group of subscriptions")
        Field("texts", \.texts, .list(.object))
        Field("prices", \.prices, .list(.object))
        Field("offers", \.offers, .list(.object))
    }
}

extension StoreProduct.Text: Described {
    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StoreProductText",
        "What a product is called in a language",
        Self.init
    ) {
        Field("locale", \.locale, .text, "A language tag (BCP 47)")
        Field("name", \.name, .text)
        Field("description", \.description, .orNull(.text))
    }
}

extension StoreProduct.Price: Described {
    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StoreProductPrice",
        "What a product costs in a country",
        Self.init
    ) {
        Field("storefront", \.storefront, .text, "ISO 3166-1 alpha-2")
        Field("priceMicros", \.micros, .count, "Millionths of the currency's unit")
        Field("currency", \.currency, .text(.field(.currency)))
    }
}

extension StoreProduct.Offer: Described {
    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StoreProductOffer",
        "What a subscription may cost at first, or for a while",
        Self.init
    ) {
        Field("offerId", \.id, .orNull(.text))
        Field("kind", \.kind, .word)
        Field("mode", \.mode, .word)
        Field("period", \.period, .orNull(.text), "ISO 8601")
        Field("count", \.count, .count, "Periods")
        Field("prices", \.prices, .list(.object))
    }
}

extension StoreOffering: Described {
    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StoreOffering",
        "What RevenueCat shows together",
        Self.init
    ) {
        Field("offeringId", \.id, .text)
        Field("name", \.name, .orNull(.text))
        Field("isCurrent", \.isCurrent, .boolean)
        Field("packages", \.packages, .list(.object))
    }
}

extension StoreOffering.Package: Described {
    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StoreOfferingPackage",
        "A choice: the same thing in each store",
        Self.init
    ) {
        Field("packageId", \.id, .text)
        Field("name", \.name, .orNull(.text))
        Field("products", \.products, .list(.text), "STORE/PRODUCT_ID")
    }
}
