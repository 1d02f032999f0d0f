import Crypto
import Encodings
package import Entitlements

/// What an answer of the Developer API comes to.
package struct PlayFacts: Sendable {
    package var submission: Submission
    /// What Google wants to be told, so that it does not give the money back; nil: nothing.
    package var acknowledgement: PlayAcknowledgement?
}

/// That what was bought is given: Google takes a purchase back of which it is not told so within three
/// days (developer.android.com/google/play/billing/integrate#process).
package struct PlayAcknowledgement: Hashable, Sendable {
    let packageName: String
    let token: String
    let productID: String
    let isSubscription: Bool
    private let purchase: PurchaseName
    private let orderID: String
    private let environment: StoreEnvironment

    /// What an answer says is paid and not acknowledged; nil: nothing.
    init?(missingIn answer: PlayAnswer) {
        packageName = answer.packageName
        token = answer.token
        environment = answer.environment
        switch answer.content {
        case .subscription(let fields):
            guard fields.text("acknowledgementState") == Self.missing,
                Self.paid.contains(where: { $0 == fields.text("subscriptionState") }),
                // Why an answer cannot be used is said where it is noted.
                let item = try? PlayLineItem.items(of: fields, in: answer).first
            else { return nil }
            isSubscription = true
            (productID, orderID, purchase) = (item.productID, item.order.base, item.purchase)
        case .product, .productV2:
            // Why an answer cannot be used is said where it is noted.
            guard let product = try? answer.product(), product.isAcknowledged == false,
                product.state == .purchased
            else { return nil }
            isSubscription = false
            (productID, orderID) = (product.productID, product.orderID)
            purchase = product.purchase
        }
    }

    /// What is recorded once Google was told; `now`: when it was.
    package func submission(at now: Instant) -> Submission {
        Submission(
            id: "acknowledged/" + Hexadecimal.encode(SHA256.hash(data: Array(token.utf8))),
            source: Source.playStore,
            environment: environment,
            nature: .signal,
            drafts: [
                EventDraft(
                    subject: .purchase(purchase),
                    time: now,
                    observedAt: now,
                    data: EventData(.purchaseAcknowledged, [.transactionID: .text(orderID)])
                )
            ]
        )
    }

    private static let missing = "ACKNOWLEDGEMENT_STATE_PENDING"
    private static let paid = [
        "SUBSCRIPTION_STATE_ACTIVE", "SUBSCRIPTION_STATE_CANCELED",
        "SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
    ]
}
