public import Encodings
public import Entitlements

/// A transaction whose signature the store's own library checked on this device (row ES2).
///
/// What the store signed goes to the server unread: the server verifies it anew.
public struct StoreTransaction: Sendable, Hashable {
    /// The store's id of it.
    @Bytewise public private(set) var id: String
    /// The store's id of the purchase that it belongs to.
    @Bytewise public private(set) var originalID: String
    /// The store's id of what was bought.
    @Bytewise public private(set) var productID: String
    /// When it ends, or was revoked; nil: neither.
    public let expiresAt: Instant?
    /// What the store signed: a compact JWS.
    @Bytewise public private(set) var signed: String
    /// Whom the app named when it was bought, by an `appAccountToken`; nil: nobody.
    public let account: CustomerID?
    /// When it was bought, where it is a subscription that does not renew itself, such as a pass for a day: of none
    /// the store says when it ends; nil: it is another purchase.
    public let nonRenewingSince: Instant?

    /// Names a transaction that the store verified.
    public init(
        id: String,
        originalID: String,
        productID: String,
        expiresAt: Instant?,
        signed: String,
        account: CustomerID? = nil,
        nonRenewingSince: Instant? = nil
    ) {
        self.id = id
        self.originalID = originalID
        self.productID = productID
        self.expiresAt = expiresAt
        self.signed = signed
        self.account = account
        self.nonRenewingSince = nonRenewingSince
    }
}
