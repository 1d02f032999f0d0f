import Encodings
import Entitlements

/// Rows of the scheduled data exports, one for each transaction
/// (revenuecat.com/docs/integrations/scheduled-data-exports/transactions).
///
/// A row tells a transaction with the first one's id, so nothing is guessed; what it tells of renewal
/// holds since the transaction, which may be an old one.
extension RevenueCatStanding {
    /// The period of a row.
    init(row fields: PayloadObject, in answer: RevenueCatAnswer) throws(InputFault) {
        let store = try fields.required(fields.store, "store")
        let renews = fields.flag(column: "is_auto_renewable") ?? false
        let start = try fields.required(fields.instant(column: "start_time"), "start_time")
        var end = try fields.end(column: "end_time")
        if renews, end == .unstated {
            // Without end by an omission would be access for ever.
            throw InputFault(unusable: "end_time is missing")
        }
        // Google Play tells so that a transaction failed (the columns' description).
        if renews, let stated = end.instant, stated < start {
            throw InputFault(unusable: "end_time lies before start_time")
        }
        let grace = try fields.instant(column: "grace_period_end_time")
        let effective = try fields.end(column: "effective_end_time").instant
        // Refunds are told apart, and may be taken back.
        refundedAt = try fields.instant(column: "refunded_at")
        let stated = end.instant
        // What says no end_time, since it does not renew, ends by this one all the same.
        if refundedAt == nil, let effective, stated.map({ effective < $0 }) ?? true {
            end = .at(effective)
        }
        let soldOnce: ProductKind = end.instant == nil ? .nonConsumable : .nonRenewing
        period = RevenueCatPeriod(
            transactionID: try fields.required(
                fields.identifier("store_transaction_id"),
                "store_transaction_id"
            ),
            productID: try fields.required(fields.name("product_identifier"), "product_identifier"),
            productKind: renews ? .autoRenewable : soldOnce,
            start: start,
            end: end,
            graceUntil: grace,
            price: Self.price(fields),
            ownership: fields.ownership("ownership_type"),
            offer: fields.flag(column: "is_trial_period") == true
                ? "trial"
                : fields.flag(column: "is_in_intro_offer_period") == true ? "introductory" : nil,
            storefront: fields.text("country_source") == "from_sdk" ? fields.code("country") : nil,
            account: answer.customer
        )
        names = RevenueCatNames(
            store: store,
            transactionID: period.transactionID,
            first: fields.identifier("original_store_transaction_id"),
            isFirst: !renews || fields.count(column: "renewal_number") == 1
        )
        observedAt = answer.observedAt
        state = answer.isDated && stated != nil && end.instant != stated ? .cut : .unstated
        guard renews else { return }
        let unsubscribedAt = try fields.instant(column: "unsubscribe_detected_at")
        renewal = Renewal(
            isOn: unsubscribedAt == nil,
            since: unsubscribedAt ?? start,
            saidAt: unsubscribedAt ?? start
        )
    }

    /// What was paid before any refund.
    private static func price(_ fields: PayloadObject) -> RevenueCatPrice? {
        let amounts = [
            ("purchase_price_in_purchased_currency", fields.text("purchased_currency")),
            ("price_in_purchased_currency", fields.text("purchased_currency")),
            ("purchase_price_in_usd", "USD"), ("price_in_usd", "USD"),
        ]
        for (name, currency) in amounts {
            if let price = RevenueCatPrice(fields.number(column: name), currency) { return price }
        }
        return nil
    }
}

/// Columns, whose values are texts in CSV and may be of their own kind where the rows were made JSON.
extension PayloadObject {
    /// The row without its empty columns, which tell nothing.
    var withoutEmptyColumns: PayloadObject {
        PayloadObject(
            json: .object((json.members ?? []).filter { $0.value != .string("") })
        )
    }

    /// An instant in UTC, such as `2023-01-01 08:27:06`; nil if absent.
    ///
    /// - Throws: `InputFault` for another shape and outside 2000 to 2200.
    func instant(column name: String) throws(InputFault) -> Instant? {
        guard let value = dated(name) else { return nil }
        return try value.instant(name)
    }

    /// An end in UTC, where after 2200 means never.
    ///
    /// - Throws: `InputFault` for another shape and before 2000.
    func end(column name: String) throws(InputFault) -> StatedEnd {
        guard let value = dated(name) else { return .unstated }
        return try value.end(name)
    }

    /// True or false, which old exports write as `t` and `f`; nil if absent or of another shape.
    func flag(column name: String) -> Bool? {
        if let flag = self[name]?.bool { return flag }
        return switch text(name)?.lowercased() {
        case "true", "t": true
        case "false", "f": false
        default: nil
        }
    }

    /// A whole number; nil if absent or of another shape.
    func count(column name: String) -> Int64? { integer(name) }

    /// A number, read as JSON's; nil if absent or of another shape.
    func number(column name: String) -> JSONValue? {
        guard let text = text(name) else { return self[name] }
        let json = try? JSONValue(parsing: Array(text.utf8))
        guard case .number = json else { return nil }
        return json
    }

    /// A column's instant as RFC 3339 writes it.
    private func dated(_ name: String) -> PayloadObject? {
        guard let value = self[name] else { return nil }
        var text = (value.string ?? "").replacing(" ", with: "T")
        if let last = text.last, last.isNumber { text += "Z" }
        return PayloadObject(json: .object([JSONMember(name, .string(text))]))
    }
}
