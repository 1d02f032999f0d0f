import Encodings
import Entitlements
import Stores

/// A RevenueCat webhook body and what it comes to.
enum RevenueCatBody {
    static func text(
        id: String,
        user: String,
        expiration: Int64,
        original: String? = nil,
        transaction: String = "t1",
        more: String = ""
    ) -> String {
        """
        {"api_version":"1.0","event":{"id":"\(id)","type":"INITIAL_PURCHASE",\
        "event_timestamp_ms":1767225660000,"app_user_id":"\(user)","aliases":["\(user)"],\
        "original_app_user_id":"\(user)","product_id":"pro.month","period_type":"NORMAL",\
        "purchased_at_ms":1767225600000,"expiration_at_ms":\(expiration),"store":"APP_STORE",\
        "environment":"PRODUCTION","transaction_id":"\(transaction)",\
        "original_transaction_id":"\(original ?? "o-" + id)"\(more)}}
        """
    }

    static func submission(id: String, user: String, expiration: Int64) throws -> Submission {
        let body = Array(text(id: id, user: user, expiration: expiration).utf8)
        return try submission(of: body)
    }

    static func submission(of body: [UInt8]) throws -> Submission {
        let webhook = try UnverifiedRevenueCatWebhook.reading(bytes: body).get()
        return RevenueCatMapping.submission(
            for: webhook.trusting(.authenticatedRequest, receivedAt: .latest),
            body: body
        )
    }
}
