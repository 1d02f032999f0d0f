import Encodings
import Entitlements

/// The rows of the events that give a period: each can be the first that we hear of a purchase.
extension RevenueCatPurchase {
    /// `INITIAL_PURCHASE` and `RENEWAL`.
    ///
    /// A prepaid plan and a promotional grant do not renew. For what does, a sale shows that
    /// renewal is on: RevenueCat sends no `UNCANCELLATION` when a lapsed or unpaid subscription
    /// is bought again, so an older cancellation would stand for ever (P10).
    func sale(_ kind: EventKind) throws(InputFault) -> [EventDraft] {
        let renews = periodType != .prepaid && name.store != "promotional"
        if renews, expiresAt == .unstated {
            // Without end by an omission would be access for ever.
            throw InputFault(unusable: "expiration_at_ms is missing")
        }
        let period = try period(kind, renews ? .autoRenewable : oneTimeKind)
        guard renews, let start = period.first?.time else { return period }
        return period + [
            draft(EventData(.purchaseRenewalChanged, [.autoRenew: .flag(true)]), at: start)
        ]
    }

    /// `NON_RENEWING_PURCHASE`; RevenueCat does not tell consumables apart.
    func oneTimeSale() throws(InputFault) -> [EventDraft] {
        try period(.purchaseCompleted, oneTimeKind)
    }

    /// `TEMPORARY_ENTITLEMENT_GRANT`: up to 24 hours on credit while a store is out of reach.
    ///
    /// Not auto-renewable, whatever is sold: the real purchase may come under another transaction
    /// and start earlier, and must not be cut at this one's start (P3).
    func temporaryGrant() throws(InputFault) -> [EventDraft] {
        guard expiresAt.instant != nil else {
            throw InputFault(unusable: "expiration_at_ms is missing or without end")
        }
        return try period(.purchaseCompleted, .nonRenewing)
    }

    private var oneTimeKind: ProductKind {
        expiresAt.instant == nil ? .nonConsumable : .nonRenewing
    }

    /// The period itself, and the verdict that it needs to give access (P7).
    private func period(
        _ kind: EventKind,
        _ productKind: ProductKind
    ) throws(InputFault) -> [EventDraft] {
        let transactionID = try requiredTransactionID()
        let start = try event.required(purchasedAt, "purchased_at_ms")
        let productID = try event.required(event.name("product_id"), "product_id")
        let price = RevenueCatPrice(of: event)
        let period = EventData(
            kind,
            [
                .transactionID: .text(transactionID), .productID: .text(productID),
                .productKind: .text(productKind.name),
                .expiresAt: expiresAt.instant.map { .instant($0) },
                .priceMicros: price.map { .integer($0.micros) },
                .currencyCode: price.map { .text($0.currencyCode) },
                .ownership: ownership.map { .text($0) }, .offer: offer.map { .text($0) },
                .storefront: event.code("country_code").map { .text($0) },
                .account: account.map { .text($0.text) },
            ]
        )
        let verdict = EventData(
            .verificationPassed,
            [.transactionID: .text(transactionID), .method: .text("channel_secret")]
        )
        return [draft(period, at: start), draft(verdict, at: start)]
    }

    private var ownership: String? {
        event["is_family_share"]?.bool.map { $0 ? "family_shared" : "purchased" }
    }

    private var offer: String? {
        periodType.offer ?? (event.name("offer_code") == nil ? nil : "code")
    }

    private var periodType: RevenueCatPeriodType {
        RevenueCatPeriodType(event.text("period_type"))
    }
}
