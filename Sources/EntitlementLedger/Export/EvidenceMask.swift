import Encodings
import Entitlements
import EventLog

/// Shows what an event was read from, with what a redaction leaves of it.
///
/// Signed texts (compact JWS, RFC 7515) are read wherever they stand in one another and shown as
/// what they say, without certificates and signature: nothing is left that could be handed in.
struct EvidenceMask {
    private let redaction: ExportRedaction

    /// Signed texts within one another that are read.
    private static let depthLimit = 8

    init(_ redaction: ExportRedaction) { self.redaction = redaction }

    /// A received body; text that is no JSON is shown where nothing is hidden, bytes as base64.
    func content(_ bytes: [UInt8]) -> JSONValue {
        switch redaction {
        case .none:
            return String(validating: bytes, as: UTF8.self).map { .string($0) }
                ?? .members(["base64": .string(Base64.encode(bytes.span))])
        case .all: return .null
        case .signatures, .names:
            if let signed = signedText(bytes[...], depth: 0) { return signed }
            guard let json = try? JSONValue(parsing: bytes) else { return .null }
            return shown(json, depth: 0)
        }
    }

    private func shown(_ value: JSONValue, depth: Int) -> JSONValue {
        switch value {
        case .object(let members): .object(shown(members, depth: depth))
        case .array(let elements): .array(elements.map { shown($0, depth: depth) })
        case .string(let text): signedText(Array(text.utf8)[...], depth: depth) ?? value
        default: value
        }
    }

    /// Members that may be shown, then how many may not.
    private func shown(_ members: [JSONMember], depth: Int) -> [JSONMember] {
        guard redaction == .names else {
            return members.filter { !Self.cut.contains($0.name) }
                .map { JSONMember($0.name, shown($0.value, depth: depth)) }
        }
        let known = members.filter { Self.known.contains($0.name) }
        return known.map { JSONMember($0.name, shown($0.value, depth: depth)) }
            + [JSONMember("masked", .integer(members.count - known.count))]
    }

    /// What a compact JWS says; nil for other texts.
    private func signedText(_ text: ArraySlice<UInt8>, depth: Int) -> JSONValue? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = json(parts[0]), header.members != nil else {
            return nil
        }
        guard depth < Self.depthLimit, let payload = json(parts[1]) else { return .null }
        return .members([
            "header": shown(header, depth: depth + 1), "payload": shown(payload, depth: depth + 1),
        ])
    }

    private func json(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64.decode(part, .url) else { return nil }
        return try? JSONValue(parsing: bytes)
    }

    /// Of a signed text's header: the certificates that signed.
    private static let cut: Set<String> = ["x5c", "x5u", "jwk", "signature"]

    /// Members of the App Store's and RevenueCat's payloads that name no person.
    private static let known: Set<String> = [
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
        "api_version", "event", "product_id", "new_product_id", "period_type",
        "purchased_at_ms", "expiration_at_ms", "event_timestamp_ms", "entitlement_ids",
        "transaction_id", "original_transaction_id", "is_family_share", "country_code",
        "price_in_purchased_currency", "takehome_percentage", "commission_percentage",
        "tax_percentage", "store", "cancel_reason", "expiration_reason",
        "grace_period_expiration_at_ms", "auto_resume_at_ms", "renewal_number",
        "is_trial_conversion",
    ]
}
