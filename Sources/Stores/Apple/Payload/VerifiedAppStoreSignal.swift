import Encodings
public import Entitlements

/// What the App Store signs.
public enum AppStoreSignalKind: String, Hashable, CaseIterable, Sendable {
    case notification
    case transaction
    case renewalInfo = "renewal_info"
    case appTransaction = "app_transaction"

    /// The kind that a payload shows to be.
    init(of json: JSONValue) {
        self =
            if json["notificationType"] != nil {
                .notification
            } else if json["receiptType"] != nil {
                .appTransaction
            } else if json["transactionId"] != nil {
                .transaction
            } else if json["autoRenewStatus"] != nil || json["bundleId"] == nil {
                .renewalInfo
            } else {
                .transaction
            }
    }
}

/// A message that counts as the App Store's word.
///
/// Only a verifier makes one.
public enum VerifiedAppStoreSignal: Hashable, Sendable {
    case notification(VerifiedAppStoreNotification)
    case transaction(VerifiedAppStoreTransaction)
    case renewalInfo(VerifiedAppStoreRenewalInfo)
    case appTransaction(VerifiedAppTransaction)
}

/// A notification that counts as the App Store's word, with what is nested in it, verified too.
///
/// Only a verifier makes one.
public struct VerifiedAppStoreNotification: Hashable, Sendable {
    /// What it says.
    package let content: AppStoreNotification
    /// The transaction that it carries.
    package let transaction: VerifiedAppStoreTransaction?
    /// The renewal info that it carries.
    package let renewalInfo: VerifiedAppStoreRenewalInfo?
    /// The app transaction that it carries.
    package let appTransaction: VerifiedAppTransaction?

    /// The compact JWS as received.
    package var jws: [UInt8] { content.payload.jws.bytes }
    /// The signal's id, the same on each retry.
    public var signalID: String { content.signalID }
    /// The environment.
    public var environment: StoreEnvironment { content.environment }
}

/// A transaction that counts as the App Store's word.
///
/// Only a verifier makes one.
public struct VerifiedAppStoreTransaction: Hashable, Sendable {
    /// What it says.
    package let content: AppStoreTransaction

    /// The compact JWS as received.
    package var jws: [UInt8] { content.payload.jws.bytes }
    /// The purchase that it belongs to; nil if it names none.
    public var purchase: PurchaseName? { .appStore(content.originalTransactionID) }
    /// The environment.
    public var environment: StoreEnvironment { content.environment }
    /// The transaction's own id.
    public var transactionID: String? { content.transactionID }
    /// What was bought.
    public var productID: String? { content.productID }
}

/// Renewal info that counts as the App Store's word.
///
/// Only a verifier makes one.
public struct VerifiedAppStoreRenewalInfo: Hashable, Sendable {
    /// What it says.
    package let content: AppStoreRenewalInfo

    /// The compact JWS as received.
    package var jws: [UInt8] { content.payload.jws.bytes }
    /// The purchase that it belongs to; nil if it names none.
    public var purchase: PurchaseName? { .appStore(content.originalTransactionID) }
    /// The environment.
    public var environment: StoreEnvironment { content.environment }
}

/// An app transaction that counts as the App Store's word.
///
/// Only a verifier makes one.
public struct VerifiedAppTransaction: Hashable, Sendable {
    /// What it says.
    package let content: AppTransaction

    /// The compact JWS as received.
    package var jws: [UInt8] { content.payload.jws.bytes }
    /// The environment.
    public var environment: StoreEnvironment { content.environment }
}

extension PurchaseName {
    /// The purchase of an original transaction id.
    static func appStore(_ originalID: String?) -> PurchaseName? {
        originalID.map { PurchaseName(store: Source.appStore, originalID: $0) }
    }
}
