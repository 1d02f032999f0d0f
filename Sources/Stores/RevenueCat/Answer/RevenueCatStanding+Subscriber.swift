import Encodings
import Entitlements

/// Entries of a subscriber (revenuecat.com/docs/api-v1/customer-info-model): instants are texts of whole
/// seconds.
extension RevenueCatStanding {
    /// The latest period of a subscription.
    ///
    /// `product`: what it is listed under.
    init(
        subscription fields: PayloadObject,
        of product: String,
        in answer: RevenueCatAnswer
    ) throws(InputFault) {
        let store = try fields.required(fields.store, "store")
        let began = try fields.instant("original_purchase_date")
        let period = try RevenueCatPeriod(subscription: fields, of: product, in: answer)
        names = RevenueCatNames(
            store: store,
            transactionID: period.transactionID,
            isFirst: began == period.start
        )
        observedAt = answer.observedAt
        self.period = period
        self.began = began
        let unsubscribedAt = try fields.instant("unsubscribe_detected_at")
        let billingFailedAt = try fields.instant("billing_issues_detected_at")
        refundedAt = try fields.instant("refunded_at")
        let resumesAt = try fields.end("auto_resume_date").instant
        let now = answer.observedAt
        if refundedAt != nil {
            state = .over(reason: nil)
        } else if let end = period.end.instant, end <= now {
            if let resumesAt, resumesAt > now {
                state = .paused(from: end, until: resumesAt)
            } else if let until = period.graceUntil, until > now {
                state = .grace(until: until)
            } else {
                let isUnpaid = billingFailedAt != nil
                let ended = unsubscribedAt == nil ? nil : "unsubscribe"
                state = .over(reason: isUnpaid ? "billing_error" : ended)
            }
        } else if billingFailedAt == nil {
            // One that was given before this period.
            self.period.graceUntil = nil
        } else if period.graceUntil == nil {
            state = .retry
        }
        guard period.productKind == .autoRenewable else { return }
        if let unsubscribedAt {
            renewal = Renewal(isOn: false, since: unsubscribedAt)
        } else if !isOver {
            renewal = Renewal(isOn: true)
        }
    }

    /// A one-time purchase; RevenueCat does not tell consumables apart.
    init(
        purchase fields: PayloadObject,
        of product: String,
        in answer: RevenueCatAnswer
    ) throws(InputFault) {
        period = try RevenueCatPeriod(
            transactionID: fields.required(
                fields.identifier("store_transaction_id"),
                "store_transaction_id"
            ),
            productID: Self.productID(product, fields),
            productKind: .nonConsumable,
            start: fields.required(fields.instant("purchase_date"), "purchase_date"),
            end: .unstated,
            price: RevenueCatPrice(listedIn: fields),
            ownership: fields.ownership("ownership_type"),
            account: answer.customer
        )
        names = RevenueCatNames(
            store: try fields.required(fields.store, "store"),
            transactionID: period.transactionID,
            isFirst: true
        )
        observedAt = answer.observedAt
    }

    /// As webhooks call it: of Google Play with its base plan behind it.
    fileprivate static func productID(
        _ product: String,
        _ fields: PayloadObject
    ) throws(InputFault) -> String {
        var name = product
        if let plan = fields.name("product_plan_identifier"), !product.contains(":") {
            name += ":" + plan
        }
        guard Identifier.isValid(name), name.utf8.count <= FieldShape.nameByteLimit else {
            throw InputFault(unusable: "the product is not valid")
        }
        return name
    }
}

extension RevenueCatPeriod {
    /// Of a subscriber's subscription.
    fileprivate init(
        subscription fields: PayloadObject,
        of product: String,
        in answer: RevenueCatAnswer
    ) throws(InputFault) {
        let type = RevenueCatPeriodType(fields.text("period_type"))
        let (end, grace) = try (
            fields.end("expires_date"), fields.instant("grace_period_expires_date")
        )
        let renews = type != .prepaid && fields.store != "promotional"
        if renews, end == .unstated {
            // Without end by an omission would be access for ever.
            throw InputFault(unusable: "expires_date is missing")
        }
        let soldOnce: ProductKind = end.instant == nil ? .nonConsumable : .nonRenewing
        try self.init(
            transactionID: fields.required(
                fields.identifier("store_transaction_id"),
                "store_transaction_id"
            ),
            productID: RevenueCatStanding.productID(product, fields),
            productKind: renews ? .autoRenewable : soldOnce,
            start: fields.required(fields.instant("purchase_date"), "purchase_date"),
            end: end,
            graceUntil: grace.flatMap { until in
                end.instant.flatMap { $0 < until ? until : nil }
            },
            price: RevenueCatPrice(listedIn: fields),
            ownership: fields.ownership("ownership_type"),
            offer: type.offer,
            account: answer.customer
        )
    }
}

extension RevenueCatPrice {
    /// A subscriber's `price`.
    fileprivate init?(listedIn fields: PayloadObject) {
        guard let price = fields.object("price") else { return nil }
        self.init(price["amount"], price.text("currency"))
    }
}

extension PayloadObject {
    /// How a customer came by a purchase; nil if absent or not known.
    func ownership(_ name: String) -> String? {
        guard let word = text(name)?.lowercased(), ["purchased", "family_shared"].contains(word)
        else { return nil }
        return word
    }

    /// The environment that `is_sandbox` tells; production where nothing is said; nil for what is
    /// neither true nor false.
    var toldEnvironment: StoreEnvironment? {
        guard self["is_sandbox"] != nil else { return .production }
        return flag(column: "is_sandbox").map { $0 ? .sandbox : .production }
    }
}
