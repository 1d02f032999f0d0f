import Encodings
package import Entitlements

/// What RevenueCat knows of what is sold: ids, names, types and periods, without prices
/// (revenuecat.com/docs/api-v2, "Product" and "Offering"); a second source beside the stores (row 1.3).
package struct RevenueCatProducts: Sendable {
    /// The products so far.
    package private(set) var read = ReadProducts()
    /// The offerings so far.
    package private(set) var offerings: [StoreOffering] = []
    /// `STORE/PRODUCT_ID` of products by RevenueCat's own ids, by which packages name them.
    private var names: [Name: String] = [:]

    /// Offerings of a project; nobody has more.
    private static let offeringLimit = 1000
    /// RevenueCat's names are its makers' own, in a language that is not said (RFC 5646, section 4.1).
    private static let locale = "und"

    /// Reads a page of products, with the app of each.
    mutating func add(products page: JSONValue) {
        for entry in PayloadObject(json: page).objects("items") {
            let product = Self.product(entry)
            read.add(product)
            if let product, let id = entry.text("id"), names.count < ReadProducts.productLimit {
                names[id] = product.store + "/" + product.id
            }
        }
    }

    /// Reads a page of offerings, with their packages and the products of each, behind the products.
    mutating func add(offerings page: JSONValue) {
        for entry in PayloadObject(json: page).objects("items") {
            guard let id = entry.identifier("lookup_key") ?? entry.identifier("id"),
                offerings.count < Self.offeringLimit
            else { continue }
            offerings.append(
                StoreOffering(
                    id: id,
                    name: entry.identifier("display_name"),
                    isCurrent: entry["is_current"]?.bool ?? false,
                    packages: packages(of: entry)
                )
            )
        }
    }

    private func packages(of offering: PayloadObject) -> [StoreOffering.Package] {
        (offering.object("packages")?.objects("items") ?? []).compactMap { entry in
            guard let id = entry.identifier("lookup_key") ?? entry.identifier("id") else {
                return nil
            }
            let products = (entry.object("products")?.objects("items") ?? []).compactMap {
                $0.object("product")?.text("id").flatMap { names[$0] }
            }
            return StoreOffering.Package(
                id: id,
                name: entry.identifier("display_name"),
                products: products
            )
        }
    }

    /// A product; nil: it has no id in a store, or its store is not told.
    private static func product(_ entry: PayloadObject) -> StoreProduct? {
        guard let id = entry.name("store_identifier"),
            let store = entry.object("app")?.text("type"), Identifier.isStore(store)
        else { return nil }
        let text = StoreProduct.Text(locale, entry.text("display_name"), nil)
        return StoreProduct(
            store: AppleStore.canonical(store),
            id: id,
            kind: kind(of: entry),
            period: SubscriptionPeriod.of(entry.object("subscription")?.text("duration")),
            texts: [text].compactMap(\.self),
            offers: trial(entry)
        )
    }

    private static let kinds: [Name: ProductKind] = [
        "subscription": .autoRenewable, "consumable": .consumable,
        "non_consumable": .nonConsumable, "non_renewing_subscription": .nonRenewing,
    ]

    private static func kind(of entry: PayloadObject) -> ProductKind? {
        if let kind = entry.text("type").flatMap({ kinds[$0] }) { return kind }
        return entry.object("one_time")?["is_consumable"]?.bool.map {
            $0 ? .consumable : .nonConsumable
        }
    }

    private static func trial(_ entry: PayloadObject) -> [StoreProduct.Offer] {
        let period = SubscriptionPeriod.of(entry.object("subscription")?.text("trial_duration"))
        return period.map {
            [StoreProduct.Offer(kind: .introductory, mode: .free, period: $0)]
        } ?? []
    }
}
