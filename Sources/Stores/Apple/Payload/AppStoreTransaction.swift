package import Encodings
package import Entitlements

/// A transaction as the App Store signs it (`JWSTransactionDecodedPayload`,
/// developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload).
///
/// Words are as sent, so that new ones survive; a field of another shape counts as absent here.
package struct AppStoreTransaction: Hashable, Sendable {
    let payload: AppStorePayload

    /// All that was signed.
    package var json: JSONValue { payload.json }
    /// The app.
    package var bundleID: String? { payload.text("bundleId") }
    /// This transaction.
    package var transactionID: String? { payload.identifier("transactionId") }
    /// What names the purchase for life; for a subscription one for each Apple Account and group.
    package var originalTransactionID: String? { payload.identifier("originalTransactionId") }
    /// What was bought.
    package var productID: String? { payload.name("productId") }
    /// `Auto-Renewable Subscription`, `Non-Consumable`, `Consumable`,
    /// `Non-Renewing Subscription`.
    package var type: String? { payload.text("type") }
    /// `PURCHASE` or `RENEWAL`.
    package var transactionReason: String? { payload.text("transactionReason") }
    /// `PURCHASED` or `FAMILY_SHARED`.
    package var inAppOwnershipType: String? { payload.text("inAppOwnershipType") }
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    package var revocationType: String? { payload.text("revocationType") }
    /// Whether another plan has taken the place of this one.
    package var isUpgraded: Bool { payload["isUpgraded"]?.bool ?? false }
    /// The period's start.
    package var purchaseDate: Instant? { payload.plausibleInstant("purchaseDate") }
    /// When the purchase was made first.
    package var originalPurchaseDate: Instant? { payload.plausibleInstant("originalPurchaseDate") }
    /// The period's end; nil also for one after 2200.
    package var expiresDate: Instant? { payload.plausibleInstant("expiresDate") }
    /// When it was refunded or taken from the family.
    package var revocationDate: Instant? { payload.plausibleInstant("revocationDate") }
    /// The customer that the app named when it bought: a UUID in lower case.
    package var appAccountToken: CustomerID? { AppAccountToken.id(payload.text("appAccountToken")) }
    /// When the App Store signed it.
    package var signedAt: Instant { payload.signedAt }
    /// The environment.
    package var environment: StoreEnvironment { payload.environment }
}

/// What a subscription will do next, as the App Store signs it (`JWSRenewalInfoDecodedPayload`,
/// developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload).
///
/// It names no app: its notification or the asker binds it by `originalTransactionId`.
package struct AppStoreRenewalInfo: Hashable, Sendable {
    let payload: AppStorePayload

    /// All that was signed.
    package var json: JSONValue { payload.json }
    /// The purchase.
    package var originalTransactionID: String? { payload.identifier("originalTransactionId") }
    /// The product that runs.
    package var productID: String? { payload.name("productId") }
    /// The product that it renews to.
    package var autoRenewProductID: String? { payload.name("autoRenewProductId") }
    /// Whether it will renew; nil if that is not said.
    package var willRenew: Bool? {
        switch payload.integer("autoRenewStatus") {
        case 0: false
        case 1: true
        default: nil
        }
    }
    /// 1 cancelled, 2 billing error, 3 price not agreed to, 4 product gone, 5 other.
    package var expirationIntent: Int64? { payload.integer("expirationIntent") }
    /// Until when access goes on although a payment failed.
    package var gracePeriodExpiresDate: Instant? {
        payload.plausibleInstant("gracePeriodExpiresDate")
    }
    /// When the App Store signed it.
    package var signedAt: Instant { payload.signedAt }
    /// The environment.
    package var environment: StoreEnvironment { payload.environment }
}

/// The download of an app as the App Store signs it (`AppTransaction`,
/// developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload).
package struct AppTransaction: Hashable, Sendable {
    let payload: AppStorePayload

    /// All that was signed.
    package var json: JSONValue { payload.json }
    /// The app.
    package var bundleID: String? { payload.text("bundleId") }
    /// One for each Apple Account and app.
    package var appTransactionID: String? { payload.identifier("appTransactionId") }
    /// The version that the customer got first.
    package var originalApplicationVersion: String? { payload.text("originalApplicationVersion") }
    /// When the app was got first.
    package var originalPurchaseDate: Instant? { payload.plausibleInstant("originalPurchaseDate") }
    /// When the App Store made it.
    package var createdAt: Instant { payload.signedAt }
    /// The environment.
    package var environment: StoreEnvironment { payload.environment }
}

/// The customer's id that an app gives to the App Store: a UUID (RFC 9562, section 4).
enum AppAccountToken {
    /// The UUID of all zeros names nobody (RFC 9562, section 5.9).
    private static let none = "00000000-0000-0000-0000-000000000000"

    /// Whether it is there and names nobody.
    static func isNobody(_ word: String) -> Bool { word == none }

    /// The lower-case text of a UUID; nil if it is none, or names nobody.
    static func id(_ word: String?) -> CustomerID? {
        guard let text = word?.lowercased(), text.utf8.count == none.utf8.count, text != none,
            zip(text.utf8, none.utf8).allSatisfy({ isFitting($0, $1) })
        else { return nil }
        return CustomerID(text)
    }

    private static func isFitting(_ byte: UInt8, _ shape: UInt8) -> Bool {
        if shape == UInt8(ascii: "-") { return byte == shape }
        return (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
