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
    /// When the store verified it last.
    private let verifiedAt: Instant
    /// The transaction's own end; nil: it has none.
    private let expiresAt: Instant?
    /// When it was bought, where it ends by itself and the store does not say when; nil: it is another.
    private let nonRenewingSince: Instant?

    /// Days for which a purchase counts that no server confirmed.
    public static let dayLimit: Int64 = 7

    /// What a verified transaction opens until its own end, and for ``dayLimit`` days since the store
    /// verified it last; a subscription that does not renew itself, since it was bought.
    init(_ transaction: StoreTransaction, verifiedAt instant: Instant) {
        self.init(
            transaction.id,
            transaction.productID,
            transaction.expiresAt,
            transaction.nonRenewingSince,
            instant
        )
    }

    private init(
        _ transactionID: String,
        _ productID: String,
        _ expiresAt: Instant?,
        _ nonRenewingSince: Instant?,
        _ verifiedAt: Instant
    ) {
        // What may be over by now is not young again because the store still holds it.
        let start = nonRenewingSince.map { min($0, verifiedAt) } ?? verifiedAt
        let limit = start.advanced(byMilliseconds: Self.dayLimit * Instant.millisecondsPerDay)
        self.transactionID = transactionID
        self.productID = productID
        self.expiresAt = expiresAt
        self.nonRenewingSince = nonRenewingSince
        self.verifiedAt = verifiedAt
        until = expiresAt.map { min($0, limit) } ?? limit
    }

    /// The same by a clock that was put forward since: what was verified by the one that was behind is not as
    /// old as it seems (row Z17).
    func moved(by correction: ClockCorrection) -> ProvisionalAccess {
        guard verifiedAt <= correction.last else { return self }
        return ProvisionalAccess(
            transactionID,
            productID,
            expiresAt,
            nonRenewingSince,
            verifiedAt.advanced(byMilliseconds: correction.milliseconds)
        )
    }
}
