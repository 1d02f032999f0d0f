import Entitlements

/// The tables of notifications: one row for each type
/// (developer.android.com/google/play/billing/rtdn-reference).
///
/// A notification is a hint (Stores, rule 3): it says that there is a purchase, or that there is none,
/// and is kept; what is true of it the Developer API says (`PlayStates`).
enum PlayRows {
    /// What a hint says of its purchase.
    enum Hint: Hashable, Sendable {
        /// There is one, whose facts are waited for.
        case exists
        /// It was given up before it was paid.
        case abandoned
        /// Nothing that stands without the facts.
        case noted
    }

    /// The type's name and hint; nil: it is not known yet.
    static func subscription(_ type: Int64) -> (name: String, hint: Hint)? { subscriptions[type] }

    /// The type's name and hint; nil: it is not known yet.
    static func oneTimeProduct(_ type: Int64) -> (name: String, hint: Hint)? { products[type] }

    /// The types that have a row.
    static var knownSubscriptionTypes: Set<Int64> { Set(subscriptions.keys) }

    private static let subscriptions: [Int64: (name: String, hint: Hint)] = [
        1: ("subscription_recovered", .exists),
        2: ("subscription_renewed", .exists),
        3: ("subscription_canceled", .noted),
        4: ("subscription_purchased", .exists),
        5: ("subscription_on_hold", .noted),
        6: ("subscription_in_grace_period", .exists),
        7: ("subscription_restarted", .exists),
        8: ("subscription_price_change_confirmed", .noted),
        9: ("subscription_deferred", .exists),
        10: ("subscription_paused", .noted),
        11: ("subscription_pause_schedule_changed", .noted),
        12: ("subscription_revoked", .noted),
        13: ("subscription_expired", .noted),
        17: ("subscription_items_changed", .noted),
        18: ("subscription_cancellation_scheduled", .noted),
        19: ("subscription_price_change_updated", .noted),
        20: ("subscription_pending_purchase_canceled", .abandoned),
        22: ("subscription_price_step_up_consent_updated", .noted),
    ]

    private static let products: [Int64: (name: String, hint: Hint)] = [
        1: ("one_time_product_purchased", .exists),
        2: ("one_time_product_canceled", .abandoned),
    ]
}
