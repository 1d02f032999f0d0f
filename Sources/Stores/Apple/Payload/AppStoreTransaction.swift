package import Encodings
public import Entitlements

/// A transaction as the App Store signs it (`JWSTransactionDecodedPayload`,
/// developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload).
///
/// Words are as sent, so that new ones survive; a field of another shape counts as absent here.
public struct AppStoreTransaction: Hashable, Sendable {
    let payload: AppStorePayload

    /// All that was signed.
    package var json: JSONValue { payload.json }
    /// The app.
    public var bundleID: String? { payload.text("bundleId") }
    /// This transaction.
    public var transactionID: String? { payload.identifier("transactionId") }
    /// What names the purchase for life; for a subscription one for each Apple Account and group.
    public var originalTransactionID: String? { payload.identifier("originalTransactionId") }
    /// What was bought.
    public var productID: String? { payload.name("productId") }
    /// `Auto-Renewable Subscription`, `Non-Consumable`, `Consumable`,
    /// `Non-Renewing Subscription`.
    public var type: String? { payload.text("type") }
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason: String? { payload.text("transactionReason") }
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var inAppOwnershipType: String? { payload.text("inAppOwnershipType") }
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    public var revocationType: String? { payload.text("revocationType") }
    /// The period's start.
    public var purchaseDate: Instant? { payload.plausibleInstant("purchaseDate") }
    /// When the purchase was made first.
    public var originalPurchaseDate: Instant? { payload.plausibleInstant("originalPurchaseDate") }
    /// The period's end; nil also for one after 2200.
    public var expiresDate: Instant? { payload.plausibleInstant("expiresDate") }
    /// When it was refunded or taken from the family.
    public var revocationDate: Instant? { payload.plausibleInstant("revocationDate") }
    /// The customer that the app named when it bought: a UUID in lower case.
    public var appAccountToken: CustomerID? { AppAccountToken.id(payload.text("appAccountToken")) }
    /// When the App Store signed it.
    public var signedAt: Instant { payload.signedAt }
    /// The environment.
    public var environment: StoreEnvironment { payload.environment }
}

/// What a subscription will do next, as the App Store signs it (`JWSRenewalInfoDecodedPayload`,
/// developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload).
///
/// It names no app: its notification or the asker binds it by `originalTransactionId`.
public struct AppStoreRenewalInfo: Hashable, Sendable {
    let payload: AppStorePayload

    /// All that was signed.
    package var json: JSONValue { payload.json }
    /// The purchase.
    public var originalTransactionID: String? { payload.identifier("originalTransactionId") }
    /// The product that runs.
    public var productID: String? { payload.name("productId") }
    /// The product that it renews to.
    public var autoRenewProductID: String? { payload.name("autoRenewProductId") }
    /// Whether it will renew; nil if that is not said.
    public var willRenew: Bool? {
        switch payload.integer("autoRenewStatus") {
        case 0: false
        case 1: true
        default: nil
        }
    }
    /// 1 cancelled, 2 billing error, 3 price not agreed to, 4 product gone, 5 other.
    public var expirationIntent: Int64? { payload.integer("expirationIntent") }
    /// Until when access goes on although a payment failed.
    public var gracePeriodExpiresDate: Instant? {
        payload.plausibleInstant("gracePeriodExpiresDate")
    }
    /// When the App Store signed it.
    public var signedAt: Instant { payload.signedAt }
    /// The environment.
    public var environment: StoreEnvironment { payload.environment }
}

/// The download of an app as the App Store signs it (`AppTransaction`,
/// developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload).
public struct AppTransaction: Hashable, Sendable {
    let payload: AppStorePayload

    /// All that was signed.
    package var json: JSONValue { payload.json }
    /// The app.
    public var bundleID: String? { payload.text("bundleId") }
    /// One for each Apple Account and app.
    public var appTransactionID: String? { payload.identifier("appTransactionId") }
    /// The version that the customer got first.
    public var originalApplicationVersion: String? { payload.text("originalApplicationVersion") }
    /// When the app was got first.
    public var originalPurchaseDate: Instant? { payload.plausibleInstant("originalPurchaseDate") }
    /// When the App Store made it.
    public var createdAt: Instant { payload.signedAt }
    /// The environment.
    public var environment: StoreEnvironment { payload.environment }
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
