import Entitlements

/// A transaction, and when the store verified it.
struct VerifiedTransaction: Sendable {
    let transaction: StoreTransaction
    let at: Instant
}
