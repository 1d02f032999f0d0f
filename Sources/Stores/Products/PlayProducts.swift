import Encodings
import Entitlements

/// What Google Play sells of an app, as its Developer API lists it
/// (developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions,
/// …/monetization.onetimeproducts, …/monetization.subscriptions.basePlans.offers).
///
/// Each base plan of a subscription and each purchase option of a one-time product is a product. What is
/// not active, and what new customers cannot buy in a country, is not for sale.
struct PlayProducts: Sendable {
    /// What was read so far.
    private(set) var read = ReadProducts()

    /// Reads a page of `monetization.subscriptions.list`.
    mutating func add(subscriptions page: JSONValue) {
        for entry in PayloadObject(json: page).objects("subscriptions") {
            add(entry, entry.objects("basePlans")) { StoreProduct(basePlan: $0) }
        }
    }

    /// Reads a page of `monetization.onetimeproducts.list`.
    mutating func add(oneTimeProducts page: JSONValue) {
        for entry in PayloadObject(json: page).objects("oneTimeProducts") {
            add(entry, entry.objects("purchaseOptions")) { StoreProduct(purchaseOption: $0) }
        }
    }

    /// Reads a page of `monetization.subscriptions.basePlans.offers.list`, behind the subscriptions.
    mutating func add(offers page: JSONValue) {
        for entry in PayloadObject(json: page).objects("subscriptionOffers") {
            guard entry.text("state") == Self.active, let id = entry.name("productId"),
                let plan = entry.code("basePlanId")
            else { continue }
            read.add(StoreProduct.Offer.phases(of: entry), to: id, plan: plan)
        }
    }

    /// The state of what is for sale.
    fileprivate static let active = "ACTIVE"

    private mutating func add(
        _ entry: PayloadObject,
        _ plans: [PayloadObject],
        _ product: (PayloadObject) -> StoreProduct?
    ) {
        let texts = entry.objects("listings").compactMap {
            StoreProduct.Text($0.text("languageCode"), $0.text("title"), $0.text("description"))
        }
        .oneForEachLanguage
        // A subscription without plans is one that nobody can buy.
        if plans.isEmpty { read.add(nil) }
        for plan in plans {
            var found = plan.text("state") == Self.active ? product(plan) : nil
            if let id = entry.name("productId") {
                found?.id = id
            } else {
                found = nil
            }
            found?.texts = texts
            read.add(found)
        }
    }
}

extension StoreProduct {
    /// A base plan, without what its subscription says; nil: it has no id.
    fileprivate init?(basePlan plan: PayloadObject) {
        guard let id = plan.code("basePlanId") else { return nil }
        let renewing =
            plan.object("autoRenewingBasePlanType") ?? plan.object("installmentsBasePlanType")
        let type = renewing ?? plan.object("prepaidBasePlanType")
        self.init(
            store: Source.playStore,
            id: "",
            plan: id,
            // What is paid ahead does not renew by itself.
            kind: type.map { _ in renewing == nil ? .nonRenewing : .autoRenewable },
            period: SubscriptionPeriod.of(type?.text("billingPeriodDuration")),
            prices: plan.objects("regionalConfigs")
                // What is false is absent (protobuf.dev/programming-guides/json).
                .filter { $0["newSubscriberAvailability"]?.bool == true }
                .compactMap { Price(region: $0) }
        )
    }

    /// A purchase option, without what its product says; nil: it has no id.
    ///
    /// Google does not say whether what is bought is used up.
    fileprivate init?(purchaseOption option: PayloadObject) {
        guard let id = option.code("purchaseOptionId") else { return nil }
        let rent = option.object("rentOption")
        self.init(
            store: Source.playStore,
            id: "",
            plan: id,
            kind: rent.map { _ in .nonRenewing },
            period: SubscriptionPeriod.of(rent?.text("rentalPeriod")),
            prices: option.objects("regionalPricingAndAvailabilityConfigs")
                .filter { $0.text("availability") == "AVAILABLE" }
                .compactMap { Price(region: $0) }
        )
    }
}

extension StoreProduct.Price {
    /// What it costs in one region.
    fileprivate init?(region: PayloadObject) {
        let price = PlayPrice(region.object("price"))
        self.init(region.text("regionCode"), micros: price?.micros, price?.currencyCode)
    }
}

extension StoreProduct.Offer {
    /// The phases of an offer, one after the other.
    ///
    /// A discount that is a part of the price is Google's to round: it is left out.
    fileprivate static func phases(of offer: PayloadObject) -> [Self] {
        let targeting = offer.object("targeting")
        let isIntroductory = targeting?.object("acquisitionRule") != nil
        return offer.objects("phases").compactMap { phase in
            let regions = phase.objects("regionalConfigs")
            let count =
                phase["recurrenceCount"] == nil ? 1 : phase.integer("recurrenceCount")
            guard let count, count > 0, !regions.isEmpty else { return nil }
            let isFree = regions.allSatisfy { $0.object("free") != nil }
            return Self(
                id: offer.code("offerId"),
                kind: isIntroductory ? .introductory : .promotional,
                mode: isFree ? .free : count == 1 ? .payUpFront : .payAsYouGo,
                period: SubscriptionPeriod.of(phase.text("duration")),
                count: count,
                prices: regions.compactMap { StoreProduct.Price(region: $0) }
            )
        }
    }
}
