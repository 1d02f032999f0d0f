import Encodings
import Entitlements

/// Entries of lists of version 2 (revenuecat.com/docs/api-v2): instants are milliseconds. A product is
/// called by an id of RevenueCat's; what its store calls it stands beside the list.
extension RevenueCatStanding {
    /// A subscription, with its transactions where they were told.
    init(
        subscription fields: PayloadObject,
        account: CustomerID?,
        in answer: RevenueCatAnswer
    ) throws(InputFault) {
        let store = try fields.required(fields.store, "store")
        let transactionID = try fields.required(
            fields.identifier("store_subscription_identifier"),
            "store_subscription_identifier"
        )
        let told = try RevenueCatTransactions(of: fields, in: answer)
        let began = try fields.instant(milliseconds: "starts_at")
        let latest = told.entry(transactionID)
        let stated = try fields.instant(milliseconds: "current_period_starts_at")
        let start = try fields.required(latest?.start ?? stated, "current_period_starts_at")
        names = RevenueCatNames(
            store: store,
            transactionID: transactionID,
            first: told.first,
            isFirst: began == start
        )
        observedAt = answer.observedAt
        self.began = began
        let product = answer.product(of: fields)
        let productID = try fields.required(
            latest?.productID ?? product?.name("store_identifier"),
            "the product's store_identifier"
        )
        let status = fields.text("status") ?? ""
        let end = try Self.end(of: fields, status, latest, now: answer.observedAt)
        let soldOnce: ProductKind = end.instant == nil ? .nonConsumable : .nonRenewing
        let productKind = store == "promotional" ? soldOnce : .autoRenewable
        period = RevenueCatPeriod(
            transactionID: transactionID,
            productID: productID,
            productKind: productKind,
            start: start,
            end: end,
            graceUntil: latest?.graceUntil,
            ownership: fields.ownership("ownership"),
            offer: status == "trialing" ? "trial" : nil,
            storefront: fields.code("country"),
            account: account
        )
        if productKind == .autoRenewable {
            earlier = told.earlier(than: transactionID, like: period)
        }
        state = try Self.state(fields, status, period, now: answer.observedAt)
        if productKind == .autoRenewable { renewal = Self.renewal(fields) }
        if isOver, renewal?.isOn == true { renewal = nil }
    }

    /// A one-time purchase.
    init(
        purchase fields: PayloadObject,
        account: CustomerID?,
        in answer: RevenueCatAnswer
    ) throws(InputFault) {
        let product = answer.product(of: fields)
        let isConsumed = product?.text("type") == "consumable"
        period = try RevenueCatPeriod(
            transactionID: fields.required(
                fields.identifier("store_purchase_identifier"),
                "store_purchase_identifier"
            ),
            productID: fields.required(
                product?.name("store_identifier"),
                "the product's store_identifier"
            ),
            productKind: isConsumed ? .consumable : .nonConsumable,
            start: fields.required(fields.instant(milliseconds: "purchased_at"), "purchased_at"),
            end: .unstated,
            quantity: fields.integer("quantity").flatMap {
                FieldShape.quantities.contains($0) ? $0 : nil
            },
            ownership: fields.ownership("ownership"),
            storefront: fields.code("country"),
            account: account
        )
        names = RevenueCatNames(
            store: try fields.required(fields.store, "store"),
            transactionID: period.transactionID,
            isFirst: true
        )
        observedAt = answer.observedAt
        switch fields.text("status") {
        case "owned": break
        // Told now, so in effect by now.
        case "refunded": refundedAt = observedAt
        default: throw InputFault(unusable: "status is not known")
        }
    }

    // MARK: What a subscription's entry says

    private static func end(
        of fields: PayloadObject,
        _ status: String,
        _ latest: RevenueCatTransactions.Entry?,
        now: Instant
    ) throws(InputFault) -> StatedEnd {
        let end = try fields.end(milliseconds: "current_period_ends_at")
        // While it is paused, the end is that of the pause.
        if status == "paused" { return latest?.end ?? .at(min(end.instant ?? now, now)) }
        // Paid already beyond the running period.
        let hasRenewed = fields.text("auto_renewal_status") == "has_already_renewed"
        let last = hasRenewed ? try fields.end(milliseconds: "ends_at") : .unstated
        let stated = last == .unstated ? end : last
        // Without end by an omission would be access for ever.
        guard stated != .unstated else {
            throw InputFault(unusable: "current_period_ends_at is missing")
        }
        return stated
    }

    /// The table of what a subscription can be; whether it gives access is told beside it.
    private static func state(
        _ fields: PayloadObject,
        _ status: String,
        _ period: RevenueCatPeriod,
        now: Instant
    ) throws(InputFault) -> State {
        let givesAccess = fields["gives_access"]?.bool
        let isPast = period.end.instant.map { $0 <= now } ?? false
        let until = period.graceUntil.flatMap { $0 > now ? $0 : nil }
        switch status {
        case "trialing", "active", "unknown":
            guard givesAccess ?? (status != "unknown") else {
                throw InputFault(unusable: "status is \(status), without access")
            }
            return isPast ? .grace(until: until) : .running
        case "in_grace_period": return .grace(until: until)
        case "in_billing_retry": return .retry
        case "paused": return .paused(from: min(period.end.instant ?? now, now), until: nil)
        case "expired": return .over(reason: nil)
        case "incomplete": return .pending
        default: throw InputFault(unusable: "status is not known")
        }
    }

    private static func renewal(_ fields: PayloadObject) -> Renewal? {
        switch fields.text("auto_renewal_status") {
        case "will_renew", "will_pause", "has_already_renewed": Renewal(isOn: true)
        case "will_not_renew": Renewal(isOn: false)
        case "will_change_product":
            Renewal(
                isOn: true,
                nextProductID: fields.object("pending_changes")?.object("product")?
                    .name("store_identifier")
            )
        case "requires_price_increase_consent":
            Renewal(isOn: false, reason: "requires_price_increase_consent")
        default: nil
        }
    }
}

extension RevenueCatAnswer {
    /// What was told beside a list of an entry's product; nil: nothing.
    func product(of entry: PayloadObject) -> PayloadObject? {
        entry.text("product_id").flatMap { products[Name($0)] }.map(PayloadObject.init)
    }
}
