import Encodings
package import Entitlements

/// What an answer says of one product of a subscription, with what it says of the whole.
///
/// Everything is read at once, so that one absurd date makes the whole answer a note
/// (Stores, rule 6).
struct PlayLineItem: Hashable, Sendable {
    let answer: PlayAnswer
    /// The whole.
    let subscription: PlayObject
    private let item: PlayObject
    let purchase: PurchaseName
    /// Whether the subscription is of several products.
    let isOneOfSeveral: Bool
    let productID: String
    /// The last order that was paid; where none is told, as for what cost nothing, the token.
    let order: PlayOrder
    /// When the subscription began, under this token; nil: it has not.
    let start: Instant?
    let end: StatedEnd

    /// Reads an item.
    ///
    /// - Throws: `InputFault` if it lacks what every item has, or a date is absurd.
    init(
        _ item: PlayObject,
        of subscription: PlayObject,
        named purchase: PurchaseName,
        isOneOfSeveral: Bool,
        in answer: PlayAnswer
    ) throws(InputFault) {
        self.answer = answer
        self.subscription = subscription
        self.item = item
        self.purchase = purchase
        self.isOneOfSeveral = isOneOfSeveral
        productID = try item.required(item.name("productId"), "lineItems.productId")
        order = PlayOrder(Self.paidOrder(item, of: subscription) ?? answer.token)
        start = try subscription.instant("startTime")
        end = try item.end("expiryTime")
    }

    /// Items of one subscription: it has a handful.
    private static let itemLimit = 64

    /// The items of an answer; where there are several, each is a purchase of its own: one that
    /// renews ends no other (P3).
    static func items(
        of subscription: PlayObject,
        in answer: PlayAnswer
    ) throws(InputFault) -> [PlayLineItem] {
        let told = subscription.objects("lineItems")
        guard told.count <= itemLimit else { throw InputFault(unusable: "lineItems are too many") }
        let items = owned(of: told)
        let isOneOfSeveral = items.count > 1
        var found: [PlayLineItem] = []
        for item in items {
            let place = isOneOfSeveral ? "/" + (item.text("productId") ?? "") : ""
            guard let purchase = PurchaseName.play(answer.token + place) else {
                throw InputFault(unusable: "lineItems.productId is missing or not valid")
            }
            found.append(
                try PlayLineItem(
                    item,
                    of: subscription,
                    named: purchase,
                    isOneOfSeveral: isOneOfSeveral,
                    in: answer
                )
            )
        }
        return found
    }

    /// The items that are had already: what takes the place of one at its renewal has no end yet,
    /// and does not make the one that is paid until then one of several.
    ///
    /// Where none has an end, none is paid yet.
    private static func owned(of items: [PlayObject]) -> [PlayObject] {
        let owned = items.filter { $0["expiryTime"] != nil }
        return owned.isEmpty ? items : owned
    }

    /// A top-up is bought for the next time, and anew; what renews goes on by itself.
    var isPrepaid: Bool { item.object("prepaidPlan") != nil }

    /// Whether it will renew; nil: it is not said.
    var willRenew: Bool? { plan?["autoRenewEnabled"]?.bool ?? (plan == nil ? nil : false) }

    /// What it renews to, where that is another product.
    var nextProductID: String? { item.object("deferredItemReplacement")?.name("productId") }

    /// Whether it was paid under the token before, and goes on under this one until it is replaced
    /// (developer.android.com/google/play/billing/subscriptions#handle-deferred-replacement).
    var isMovedHere: Bool {
        nextProductID != nil && subscription.identifier("linkedPurchaseToken") != nil
    }

    /// What the running period costs, as far as that is told: an answer has the price of the next.
    var price: PlayPrice? {
        let price = PlayPrice(plan?.object("recurringPrice"))
        let phase = item.object("offerPhase")
        if phase?["freeTrial"] != nil { return price?.free }
        let hasOffer = item.object("offerDetails")?["offerId"] != nil
        return phase?["basePrice"] != nil || (phase == nil && !hasOffer) ? price : nil
    }

    /// What the running period was offered as.
    var offer: String? {
        let phase = item.object("offerPhase")
        if phase?["freeTrial"] != nil { return "trial" }
        return phase?["introductoryPrice"] != nil ? "introductory" : nil
    }

    private var plan: PlayObject? { item.object("autoRenewingPlan") }

    /// Older answers tell only of the last order, which is not paid while payment is tried again.
    private static func paidOrder(_ item: PlayObject, of subscription: PlayObject) -> String? {
        if let paid = item.identifier("latestSuccessfulOrderId") { return paid }
        guard let last = subscription.identifier("latestOrderId") else { return nil }
        switch subscription.text("subscriptionState") {
        case "SUBSCRIPTION_STATE_IN_GRACE_PERIOD", "SUBSCRIPTION_STATE_ON_HOLD":
            return (PlayOrder(last).previous ?? PlayOrder(last)).id
        default: return last
        }
    }
}

extension PurchaseName {
    /// The purchase of a token; nil: the token is not valid.
    package static func play(_ token: String) -> PurchaseName? {
        guard Identifier.isValid(token) else { return nil }
        return PurchaseName(store: Source.playStore, originalID: token)
    }
}
