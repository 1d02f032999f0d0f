import Encodings
import Entitlements

/// A Real-time Developer Notification: a hint that something changed, which the Developer API then
/// says (developer.android.com/google/play/billing/rtdn-reference).
struct PlayNotification: Hashable, Sendable {
    /// The app.
    let packageName: String
    /// `eventTimeMillis`: when it happened; where that is absurd, the time of arrival.
    let saidAt: Instant
    /// Whether `eventTimeMillis` cannot be when it happened (Stores, rule 6).
    let isOddlyDated: Bool
    let content: Content

    /// What happened, to what.
    enum Content: Hashable, Sendable {
        case subscription(type: Int64, token: String)
        case oneTimeProduct(type: Int64, token: String)
        case voided(Voided)
        case pendingRefundReview(orderID: String?)
        case test
        /// None of these, several of them, or one that names no purchase.
        case unknown
    }

    /// A purchase, or a part of it, that was taken back.
    struct Voided: Hashable, Sendable {
        var token: String
        var orderID: String
        /// Nil: of a kind that is not known yet.
        var isWhole: Bool?
    }

    /// Reads what `data` of a push holds.
    ///
    /// `now`: the time of arrival, which stands in for a time that is absurd, a day ahead of it say.
    init(_ json: JSONValue, now: Instant) throws(SignalRefusal) {
        guard json.members != nil else {
            throw SignalRefusal(.malformed, "", "expected a JSON object")
        }
        let fields = PlayObject(json: json)
        guard let packageName = fields.text("packageName") else {
            throw SignalRefusal(.missingField, "packageName", "required")
        }
        guard fields["eventTimeMillis"] != nil else {
            throw SignalRefusal(.missingField, "eventTimeMillis", "required")
        }
        self.packageName = packageName
        let latest = now.advanced(byMilliseconds: Instant.millisecondsPerDay)
        // Why it is absurd makes no difference.
        if let said = try? fields.instant(milliseconds: "eventTimeMillis"), said <= latest {
            (saidAt, isOddlyDated) = (said, false)
        } else {
            (saidAt, isOddlyDated) = (now, true)
        }
        content = Self.content(fields)
    }

    /// The purchase that it speaks of; nil: of none.
    var token: String? {
        switch content {
        case .subscription(_, let token), .oneTimeProduct(_, let token): token
        case .voided(let voided): voided.token
        case .pendingRefundReview, .test, .unknown: nil
        }
    }

    private static func content(_ fields: PlayObject) -> Content {
        let kinds = [
            "subscriptionNotification", "oneTimeProductNotification", "voidedPurchaseNotification",
            "pendingRefundReviewNotification", "testNotification",
        ]
        let found = kinds.filter { fields.object($0) != nil }
        // Exactly one is there (`rtdn-reference`).
        guard found.count == 1, let body = fields.object(found[0]) else { return .unknown }
        let (type, token) = (body.integer("notificationType"), body.identifier("purchaseToken"))
        switch (found[0], type, token) {
        case (kinds[0], let type?, let token?): return .subscription(type: type, token: token)
        case (kinds[1], let type?, let token?): return .oneTimeProduct(type: type, token: token)
        case (kinds[2], _, let token?):
            guard let orderID = body.identifier("orderId") else { return .unknown }
            let isWhole: Bool? =
                switch body.integer("refundType") {
                case 1: true
                case 2: false
                default: nil
                }
            return .voided(Voided(token: token, orderID: orderID, isWhole: isWhole))
        case (kinds[3], _, _): return .pendingRefundReview(orderID: body.identifier("orderId"))
        case (kinds[4], _, _): return .test
        default: return .unknown
        }
    }
}
