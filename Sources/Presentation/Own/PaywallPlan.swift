import Encodings
import Entitlements
import LedgerAPI

/// A product as a paywall's card shows it: what it costs comes from its store, and nobody here invents it.
struct PaywallPlan {
    let product: OfferingAnswer.Product
    let name: String
    let description: String?
    /// What its store says; nil: nothing was loaded.
    let metadata: ProductMetadata?
    /// How long one of its periods is; nil: it has none, or is not said.
    let period: ShownPeriod?
    /// What whoever never subscribed gets first; nil: nothing, or not this customer.
    let offer: ProductMetadata.Offer?

    /// A product for a customer.
    ///
    /// `store`: whose prices are shown; nil: of the first store that says one. `isNew`: whether the customer
    /// never had a subscription.
    init(_ product: OfferingAnswer.Product, in store: String?, isNew: Bool) {
        self.product = product
        let told = product.metadata.filter { metadata in
            store.map { AppleStore.canonical(metadata.store).isSame(as: AppleStore.canonical($0)) }
                ?? true
        }
        let metadata = told.first { $0.price != nil } ?? told.first
        self.metadata = metadata
        name = product.name ?? product.id
        description = product.description
        period = ShownPeriod(metadata?.period)
        offer = isNew ? metadata?.offers.first { $0.kind == .introductory } : nil
    }

    var price: ProductMetadata.Price? { metadata?.price }
    var isSubscription: Bool { product.kind == .autoRenewable }
    /// How long it is free first; nil: it is not.
    var trial: ShownPeriod? {
        guard let offer, offer.mode == .free else { return nil }
        return ShownPeriod(offer.period)?.times(offer.count)
    }

    /// Millionths that a month costs, cut; nil: it has no months, or no more than one.
    var microsPerMonth: Int64? {
        guard isSubscription, let price, let months = period?.months, months > 1 else {
            return nil
        }
        return price.micros / months
    }

    /// Whole percent by which a month of it is cheaper than one of another plan that opens the same; nil: it is
    /// not, or the two cannot be compared.
    ///
    /// Exact: cut, so that no more is promised than is saved.
    func saving(against other: PaywallPlan) -> Int64? {
        guard isSubscription, other.isSubscription,
            Set(texts: [product.tier].compactMap(\.self))
                == Set(texts: [other.product.tier].compactMap(\.self)),
            Set(texts: product.features) == Set(texts: other.product.features),
            let price, let base = other.price, price.currency == base.currency,
            price.storefront == base.storefront,
            let months = period?.months, let baseMonths = other.period?.months
        else { return nil }
        let own = price.micros.multipliedReportingOverflow(by: baseMonths)
        let whole = base.micros.multipliedReportingOverflow(by: months)
        guard !own.overflow, !whole.overflow, whole.partialValue > 0,
            own.partialValue < whole.partialValue
        else { return nil }
        // Fits: both are not negative.
        let saved = (whole.partialValue - own.partialValue).multipliedReportingOverflow(by: 100)
        guard !saved.overflow else { return nil }
        let percent = saved.partialValue / whole.partialValue
        return percent > 0 ? percent : nil
    }

    /// The most that it saves against any of some plans.
    func saving(among plans: [PaywallPlan]) -> Int64? {
        plans.compactMap { saving(against: $0) }.max()
    }
}
