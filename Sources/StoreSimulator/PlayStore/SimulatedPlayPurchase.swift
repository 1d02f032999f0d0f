import Encodings
import Entitlements

/// A purchase of Google Play: one token.
struct SimulatedPlayPurchase: Sendable {
    let token: String
    /// Its first order.
    let order: String
    var product: SimulatedProduct
    /// When it began under this token.
    var start: Instant
    var state = State.active
    /// What it renews to after a free trial; nil: to itself, or it is no trial.
    var next: SimulatedProduct?
    /// Until when access is given, or was.
    var end: Instant?
    /// Until when it is paid.
    var paidEnd: Instant?
    /// Orders that were paid.
    var paidCount = 0
    var cancelledAt: Instant?
    var resumesAt: Instant?
    /// The token whose place it took.
    var before: String?
    var quantity = 1
    /// How many of them were given back.
    var refunded = 0

    enum State: Sendable, Hashable {
        case pending, abandoned, active, inGrace, onHold, paused, expired, replaced, givenBack
    }

    init(token: String, order: String, product: SimulatedProduct, start: Instant) {
        self.token = token
        self.order = order
        self.product = product
        self.start = start
    }

    var isSubscription: Bool { product.period != nil }
    /// Paid by the customer each time; it does not renew by itself.
    var isPrepaid: Bool { isSubscription && !product.isRenewable }

    /// The last order that was paid.
    var lastOrder: String { paidCount < 2 ? order : "\(order)..\(paidCount - 2)" }

    /// A period is paid, from an instant on.
    mutating func pay(from start: Instant) {
        state = .active
        paidCount += 1
        resumesAt = nil
        end = product.period.map { start.advanced(byMilliseconds: $0) }
        paidEnd = end
    }
}

/// What the Developer API answers
/// (developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2 and
/// purchases.productsv2).
extension SimulatedPlayAccount {
    /// All answers, by their tokens.
    var answers: [(token: String, isSubscription: Bool, answer: JSONValue)] {
        (replaced + purchases).map { purchase in
            (
                purchase.token, purchase.isSubscription,
                purchase.isSubscription ? subscription(purchase) : product(purchase)
            )
        }
    }

    /// The purchase tokens that orders belong to.
    var tokensOfOrders: [(order: String, token: String)] { orders.map { ($0.id, $0.token) } }

    private func subscription(_ purchase: SimulatedPlayPurchase) -> JSONValue {
        let plan = JSONValue.members([
            "autoRenewEnabled": .bool(purchase.cancelledAt == nil && purchase.state != .expired),
            "recurringPrice": .members([
                "currencyCode": "USD", "units": .string(String(purchase.product.price / 1000)),
                "nanos": .integer(purchase.product.price % 1000 * 1_000_000),
            ]),
        ])
        return store.subscription(
            order: purchase.lastOrder,
            start: purchase.start,
            end: purchase.end ?? purchase.start,
            .members([
                "startTime": purchase.paidCount == 0
                    ? .null : .string(purchase.start.description),
                "latestOrderId": purchase.paidCount == 0 ? .null : .string(purchase.lastOrder),
                "subscriptionState": .string(state(purchase)),
                "linkedPurchaseToken": .optional(purchase.before),
                "externalAccountIdentifiers": account ?? .null,
                "canceledStateContext": cancellation(purchase),
                "pausedStateContext": purchase.state != .paused
                    ? .null
                    : .members(["autoResumeTime": .optional(purchase.resumesAt?.description)]),
            ]),
            item: .members([
                "productId": .string(purchase.product.id),
                "expiryTime": .optional(purchase.end?.description),
                "autoRenewingPlan": purchase.isPrepaid ? .null : plan,
                "prepaidPlan": purchase.isPrepaid ? .object([]) : .null,
                "offerPhase": purchase.next == nil ? .null : .members(["freeTrial": .object([])]),
                "latestSuccessfulOrderId": purchase.paidCount == 0
                    ? .null : .string(purchase.lastOrder),
            ])
        )
    }

    private func state(_ purchase: SimulatedPlayPurchase) -> String {
        let name =
            switch purchase.state {
            case .pending: "PENDING"
            case .abandoned: "PENDING_PURCHASE_CANCELED"
            case .active, .givenBack: purchase.cancelledAt == nil ? "ACTIVE" : "CANCELED"
            case .inGrace: "IN_GRACE_PERIOD"
            case .onHold: "ON_HOLD"
            case .paused: "PAUSED"
            case .expired, .replaced: "EXPIRED"
            }
        return "SUBSCRIPTION_STATE_" + name
    }

    private func cancellation(_ purchase: SimulatedPlayPurchase) -> JSONValue {
        if purchase.state == .replaced {
            return .members(["replacementCancellation": .object([])])
        }
        guard let cancelledAt = purchase.cancelledAt else { return .null }
        return .members([
            "userInitiatedCancellation": .members([
                "cancelTime": .string(cancelledAt.description)
            ])
        ])
    }

    private func product(_ purchase: SimulatedPlayPurchase) -> JSONValue {
        let isPaid = purchase.paidCount > 0
        let state =
            switch purchase.state {
            case .pending: "PENDING"
            case .abandoned, .givenBack: "CANCELLED"
            default: "PURCHASED"
            }
        return JSONValue.members([
            "kind": "androidpublisher#productPurchaseV2",
            "productLineItem": .array([
                .members([
                    "productId": .string(purchase.product.id),
                    "productOfferDetails": .members([
                        "consumptionState": "CONSUMPTION_STATE_YET_TO_BE_CONSUMED",
                        "quantity": .integer(Int64(purchase.quantity)),
                        "refundableQuantity": .integer(
                            Int64(purchase.quantity - purchase.refunded)
                        ),
                    ]),
                ])
            ]),
            "purchaseStateContext": .members(["purchaseState": .string(state)]),
            "orderId": isPaid ? .string(purchase.order) : .null,
            "purchaseCompletionTime": isPaid ? .string(purchase.start.description) : .null,
            "regionCode": "US", "obfuscatedExternalAccountId": .optional(accountID),
            "acknowledgementState": isPaid ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : .null,
        ])
        .changed(by: .object([]))
    }

    private var account: JSONValue? {
        accountID.map { .members(["obfuscatedExternalAccountId": .string($0)]) }
    }
}
