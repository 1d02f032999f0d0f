import Encodings
import Entitlements

/// What the App Store sells of an app, as App Store Connect lists it: resources that name one another
/// (jsonapi.org; developer.apple.com/documentation/appstoreconnectapi, "In-App Purchases" and
/// "Subscriptions").
struct AppStoreConnectProducts: Sendable {
    /// What was read so far.
    private(set) var read = ReadProducts()
    /// Today (ISO 8601), in UTC: prices and offers begin and end by days.
    let today: String

    /// What has a price of its own.
    struct Sold: Hashable, Sendable {
        /// App Store Connect's id of it.
        var id: String
        /// Without prices and offers.
        var product: StoreProduct
    }

    /// Reads a page of an app's in-app purchases, with their localizations.
    ///
    /// - Returns: those that were approved once; what was not is passed over.
    mutating func purchases(of page: JSONValue) -> [Sold] {
        sold(of: page, texts: "inAppPurchaseLocalizations", kind: Self.kind, group: nil)
    }

    /// Reads a page of a group's subscriptions, with their localizations.
    ///
    /// - Returns: those that were approved once; what was not is passed over.
    mutating func subscriptions(of page: JSONValue, group: String) -> [Sold] {
        sold(
            of: page,
            texts: "subscriptionLocalizations",
            kind: { _ in .autoRenewable },
            group: group
        )
    }

    /// Adds one, with what was told of its prices and offers.
    mutating func add(
        _ sold: Sold,
        prices: [StoreProduct.Price],
        offers: [StoreProduct.Offer] = []
    ) {
        var product = sold.product
        (product.prices, product.offers) = (prices, offers)
        read.add(product)
    }

    private static let kinds: [Name: ProductKind] = [
        "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
        "NON_RENEWING_SUBSCRIPTION": .nonRenewing,
    ]

    private static func kind(of attributes: PayloadObject) -> ProductKind? {
        attributes.text("inAppPurchaseType").flatMap { kinds[$0] }
    }

    /// The state of what is for sale, unless an app takes it off.
    private static let approved = "APPROVED"

    private mutating func sold(
        of page: JSONValue,
        texts: String,
        kind: (PayloadObject) -> ProductKind?,
        group: String?
    ) -> [Sold] {
        let document = ConnectDocument(page)
        return document.data.compactMap { resource in
            guard let id = resource.text("id"), let attributes = resource.object("attributes"),
                attributes.text("state") == Self.approved,
                let productID = attributes.name("productId")
            else {
                read.add(nil)
                return nil
            }
            let names = document.related(to: resource, texts).compactMap { text in
                text.object("attributes").flatMap {
                    StoreProduct.Text($0.text("locale"), $0.text("name"), $0.text("description"))
                }
            }
            return Sold(
                id: id,
                product: StoreProduct(
                    store: Source.appStore,
                    id: productID,
                    kind: kind(attributes),
                    period: attributes.text("subscriptionPeriod").flatMap { Self.periods[$0] },
                    group: group,
                    texts: names.oneForEachLanguage
                )
            )
        }
    }

    private static let periods: [Name: String] = [
        "THREE_DAYS": "P3D", "ONE_WEEK": "P1W", "TWO_WEEKS": "P2W", "ONE_MONTH": "P1M",
        "TWO_MONTHS": "P2M", "THREE_MONTHS": "P3M", "SIX_MONTHS": "P6M", "ONE_YEAR": "P1Y",
    ]
}

/// Prices and offers.
extension AppStoreConnectProducts {
    /// The prices of today in some pages: of each territory the one that began last; what old
    /// subscribers go on paying is none.
    ///
    /// `points`: the name of the relationship to the amount.
    func prices(of pages: [JSONValue], points: String) -> [StoreProduct.Price] {
        var begun: [Name: (since: String, price: StoreProduct.Price)] = [:]
        for page in pages {
            let document = ConnectDocument(page)
            for resource in document.data {
                let attributes = resource.object("attributes")
                let since = attributes?.text("startDate") ?? ""
                guard attributes?["preserved"]?.bool != true, isNow(attributes),
                    let price = document.price(of: resource, points)
                else { continue }
                let known = begun[Name(price.storefront)]
                if known.map({ $0.since.precedes(since) }) ?? true {
                    begun[Name(price.storefront)] = (since, price)
                }
            }
        }
        return begun.sorted { $0.key < $1.key }.map(\.value.price)
    }

    /// The introductory offers of today in some pages: those of the same shape are one, in many countries.
    func offers(of pages: [JSONValue]) -> [StoreProduct.Offer] {
        var offers: [StoreProduct.Offer] = []
        for page in pages {
            let document = ConnectDocument(page)
            for resource in document.data {
                guard let attributes = resource.object("attributes"), isNow(attributes),
                    let mode = attributes.text("offerMode").flatMap({ Self.modes[$0] }),
                    let count = attributes.integer("numberOfPeriods"), count > 0
                else { continue }
                var offer = StoreProduct.Offer(
                    kind: .introductory,
                    mode: mode,
                    period: attributes.text("duration").flatMap { Self.periods[$0] },
                    count: count
                )
                let price = document.price(of: resource, "subscriptionPricePoint")
                if let place = offers.firstIndex(where: { $0.isShaped(as: offer) }) {
                    offer.prices = offers[place].prices
                    offers.remove(at: place)
                }
                if mode != .free, let price { offer.prices.append(price) }
                offers.append(offer)
            }
        }
        return offers
    }

    private static let modes: [Name: StoreProduct.PaymentMode] = [
        "FREE_TRIAL": .free, "PAY_AS_YOU_GO": .payAsYouGo, "PAY_UP_FRONT": .payUpFront,
    ]

    /// Whether it has begun and is not over; days are compared as text.
    private func isNow(_ attributes: PayloadObject?) -> Bool {
        let (start, end) = (attributes?.text("startDate"), attributes?.text("endDate"))
        return !(start.map { today.precedes($0) } ?? false)
            && !(end.map { $0.precedes(today) } ?? false)
    }
}

extension StoreProduct.Offer {
    fileprivate func isShaped(as other: Self) -> Bool {
        kind == other.kind && mode == other.mode && count == other.count && period == other.period
    }
}

/// A document of App Store Connect: resources, and those that they name.
private struct ConnectDocument {
    let data: [PayloadObject]
    private var included: [Name: PayloadObject] = [:]

    init(_ page: JSONValue) {
        let document = PayloadObject(json: page)
        data = document.objects("data")
        for resource in document.objects("included") { included[Self.key(resource)] = resource }
    }

    private static func key(_ resource: PayloadObject) -> Name {
        Name((resource.text("type") ?? "") + "/" + (resource.text("id") ?? ""))
    }

    /// The resources that a resource names under a relationship, as far as they came with it.
    func related(to resource: PayloadObject, _ name: String) -> [PayloadObject] {
        guard let relation = resource.object("relationships")?.object(name) else { return [] }
        let links = relation.object("data").map { [$0] } ?? relation.objects("data")
        return links.compactMap { included[Self.key($0)] }
    }

    /// What a resource costs: an amount, and a territory with its currency.
    func price(of resource: PayloadObject, _ points: String) -> StoreProduct.Price? {
        let point = related(to: resource, points).first
        // A price point of a purchase has the territory itself, of a subscription its price.
        let territory =
            related(to: resource, "territory").first
            ?? point.flatMap { related(to: $0, "territory").first }
        let amount = point?.object("attributes")?.text("customerPrice")
        return StoreProduct.Price(
            territory?.text("id"),
            micros: amount.flatMap { ExactDecimal(text: $0) }?.micros,
            territory?.object("attributes")?.text("currency")
        )
    }
}
