import Encodings

/// Members of a store's payloads whose values name no person: what an export that hides names shows.
///
/// They stand beside the readers of the members that do (`PayloadNames`).
enum ImpersonalMembers {
    /// The App Store's, and those of the header of what it signs.
    static let appStore: Set<Name> = [
        "alg", "typ", "notificationType", "subtype", "version", "signedDate", "data",
        "environment", "bundleId", "bundleVersion", "appAppleId", "status", "signedPayload",
        "signedTransactionInfo", "signedRenewalInfo", "transactionId", "originalTransactionId",
        "productId", "subscriptionGroupIdentifier", "purchaseDate", "originalPurchaseDate",
        "expiresDate", "quantity", "type", "inAppOwnershipType", "transactionReason",
        "storefront", "storefrontId", "price", "currency", "offerType", "offerIdentifier",
        "offerDiscountType", "revocationDate", "revocationReason", "isUpgraded",
        "autoRenewProductId", "autoRenewStatus", "renewalPrice", "renewalDate",
        "gracePeriodExpiresDate", "isInBillingRetryPeriod", "expirationIntent",
        "priceIncreaseStatus", "recentSubscriptionStartDate",
    ]

    /// Google Play's, and those of Pub/Sub around them.
    static let playStore: Set<Name> = [
        "message", "messageId", "message_id", "publishTime", "publish_time", "subscription",
        "attributes", "version", "packageName", "eventTimeMillis", "subscriptionNotification",
        "oneTimeProductNotification", "voidedPurchaseNotification", "testNotification",
        "pendingRefundReviewNotification", "notificationType", "subscriptionId", "sku",
        "productType", "refundType", "observedAt", "push", "answer", "kind", "regionCode",
        "startTime", "subscriptionState", "acknowledgementState", "lineItems", "productId",
        "expiryTime", "autoRenewingPlan", "autoRenewEnabled", "recurringPrice", "currencyCode",
        "units", "nanos", "prepaidPlan", "offerDetails", "basePlanId", "offerId", "offerPhase",
        "canceledStateContext", "pausedStateContext", "autoResumeTime", "testPurchase",
        "purchaseState", "purchaseTimeMillis", "purchaseTime", "consumptionState", "purchaseType",
        "quantity", "refundableQuantity", "productLineItem", "productOfferDetails",
        "purchaseStateContext", "purchaseCompletionTime", "autoRenewing", "acknowledged",
    ]

    /// RevenueCat's.
    static let revenueCat: Set<Name> = [
        "api_version", "event", "product_id", "new_product_id", "period_type",
        "purchased_at_ms", "expiration_at_ms", "event_timestamp_ms", "entitlement_ids",
        "transaction_id", "original_transaction_id", "is_family_share", "country_code",
        "price_in_purchased_currency", "takehome_percentage", "commission_percentage",
        "tax_percentage", "store", "cancel_reason", "expiration_reason",
        "grace_period_expiration_at_ms", "auto_resume_at_ms", "renewal_number",
        "is_trial_conversion",
        // Of answers.
        "observedAt", "answer", "request_date", "request_date_ms", "subscriber", "subscriptions",
        "non_subscriptions", "purchase_date", "original_purchase_date", "expires_date",
        "grace_period_expires_date", "billing_issues_detected_at", "unsubscribe_detected_at",
        "refunded_at", "auto_resume_date", "ownership_type", "is_sandbox", "store_transaction_id",
        "product_plan_identifier", "price", "amount", "currency", "object", "items", "starts_at",
        "current_period_starts_at", "current_period_ends_at", "ends_at", "gives_access",
        "auto_renewal_status", "status", "environment", "store_subscription_identifier",
        "store_purchase_identifier", "ownership", "country", "purchased_at", "quantity",
        "expiration_date", "effective_expiration_date", "product_store_identifier",
        "store_identifier", "transactions", "products", "pending_changes", "product",
        // Of rows of exports.
        "product_identifier", "start_time", "end_time", "grace_period_end_time",
        "effective_end_time", "is_auto_renewable", "is_trial_period", "is_in_intro_offer_period",
        "original_store_transaction_id", "updated_at", "purchased_currency",
        "purchase_price_in_purchased_currency", "purchase_price_in_usd", "price_in_usd",
    ]
}
