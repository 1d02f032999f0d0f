public import Encodings
public import Entitlements

/// What a purchase opens that the store verified and the server has not recorded yet (row 3.4).
public struct ProvisionalAccess: Sendable, Hashable {
    /// The store's id of the transaction.
    @Bytewise public private(set) var transactionID: String
    /// The store's id of the product, by which the gate map is asked.
    @Bytewise public private(set) var productID: String
    /// The first instant at which it opens nothing more.
    public let until: Instant

    /// Days for which a purchase counts that no server confirmed.
    public static let dayLimit: Int64 = 7

    /// What a verified transaction opens until its own end, and for ``dayLimit`` days since the store
    /// verified it last.
    init(_ transaction: StoreTransaction, verifiedAt instant: Instant) {
        let limit = instant.advanced(byMilliseconds: Self.dayLimit * Instant.millisecondsPerDay)
        transactionID = transaction.id
        productID = transaction.productID
        until = transaction.expiresAt.map { min($0, limit) } ?? limit
    }
}
