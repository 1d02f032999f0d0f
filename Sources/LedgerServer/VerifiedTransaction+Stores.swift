package import EntitlementLedger
package import Stores

extension VerifiedAppStoreTransaction {
    /// The transaction as a customer hands it in; refused if it names no purchase.
    package func handedIn() -> Result<VerifiedTransaction, SignalRefusal> {
        guard let purchase else {
            return .failure(SignalRefusal(.missingField, "originalTransactionId", "required"))
        }
        return .success(
            VerifiedTransaction(
                purchase: purchase,
                facts: AppStoreMapping.submission(for: self)
            )
        )
    }
}

extension VerifiedPlayPurchase {
    /// The purchase as a customer hands it in.
    package func handedIn() -> VerifiedTransaction {
        VerifiedTransaction(purchase: purchase, facts: PlayMapping.submission(for: self))
    }
}
