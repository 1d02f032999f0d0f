import Encodings
import Entitlements

extension SimulatedRevenueCatAPI {
    /// What accounts have bought from now on, those of one customer together.
    package func set(_ accounts: [SimulatedRevenueCatAccount]) {
        for giver in accounts.flatMap(\.givers) { set(of: giver) }
        for (customer, accounts) in Dictionary(grouping: accounts, by: \.customer) {
            set(
                subscriptions: accounts.flatMap(\.subscriptions),
                purchases: accounts.flatMap(\.oneTimePurchases),
                of: customer
            )
        }
        for account in accounts { account.tellParts(self) }
    }
}

/// What version 2 of the API lists (revenuecat.com/docs/api-v2).
extension SimulatedRevenueCatAccount {
    fileprivate var subscriptions: [JSONValue] {
        purchases.enumerated().filter { $0.element.isSubscription }
            .compactMap { subscription($0.element, $0.offset) }
    }

    fileprivate var oneTimePurchases: [JSONValue] {
        purchases.enumerated().filter { !$0.element.isSubscription }
            .compactMap { oneTime($0.element, $0.offset) }
    }

    /// Tells the API the transactions of its subscriptions, and what its products are.
    fileprivate func tellParts(_ api: SimulatedRevenueCatAPI) {
        for (place, purchase) in purchases.enumerated() where purchase.isSubscription {
            api.set(transactions: purchase.periods.map(transaction), ofSubscription: id(place))
        }
        for product in purchases.flatMap(\.periods).map(\.product) {
            api.set(
                .members([
                    "object": "product", "id": .string(product.id),
                    "store_identifier": .string(product.id),
                    "type": product.isRenewable ? "subscription" : "non_consumable",
                ]),
                ofProduct: product.id
            )
        }
    }

    private func id(_ place: Int) -> String { "sub-\(number)-\(place)" }

    private func subscription(_ purchase: Purchase, _ place: Int) -> JSONValue? {
        guard let first = purchase.periods.first, let last = purchase.periods.last else {
            return nil
        }
        let end = last.end.map { JSONValue.milliseconds($0) } ?? .null
        return .members([
            "object": "subscription", "id": .string(id(place)),
            "customer_id": .string(customer.text), "product_id": .string(last.product.id),
            "starts_at": .milliseconds(first.start),
            "current_period_starts_at": .milliseconds(last.start),
            "current_period_ends_at": end, "ends_at": end,
            "gives_access": .bool([.running, .inGrace].contains(purchase.state)),
            "status": status(purchase.state),
            "auto_renewal_status": purchase.renews ? "will_renew" : "will_not_renew",
            "environment": "production", "store": "app_store", "ownership": "purchased",
            "store_subscription_identifier": .string(last.id),
        ])
    }

    private func status(_ state: State) -> JSONValue {
        switch state {
        case .running: "active"
        case .inGrace: "in_grace_period"
        case .retried: "in_billing_retry"
        case .over, .givenBack: "expired"
        }
    }

    private func transaction(_ period: Period) -> JSONValue {
        let end = period.end.map { JSONValue.milliseconds($0) } ?? .null
        return .members([
            "object": "subscription_transaction", "id": .string(period.id),
            "purchased_at": .milliseconds(period.start),
            "product_store_identifier": .string(period.product.id), "expiration_date": end,
            "effective_expiration_date": period.effectiveEnd.map { .milliseconds($0) } ?? end,
        ])
    }

    private func oneTime(_ purchase: Purchase, _ place: Int) -> JSONValue? {
        guard let period = purchase.periods.first else { return nil }
        return .members([
            "object": "purchase", "id": .string(id(place)),
            "customer_id": .string(customer.text), "product_id": .string(period.product.id),
            "purchased_at": .milliseconds(period.start), "quantity": .integer(1),
            "status": purchase.state == .givenBack ? "refunded" : "owned",
            "environment": "production", "store": "app_store", "ownership": "purchased",
            "store_purchase_identifier": .string(period.id),
        ])
    }
}

extension SimulatedRevenueCatAccount.Purchase {
    fileprivate var isSubscription: Bool { periods.first?.product.isRenewable ?? false }
}
