import EntitlementClient
import Entitlements
import LedgerAPI

/// A store that sells and tells nothing, and says what its account holds once it is let.
final class HeldStore: PurchaseServicing {
    private let held: [StoreTransaction]
    private let silence: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(_ held: [StoreTransaction]) {
        self.held = held
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        self.silence = silence
        self.end = end
    }

    /// Lets it answer from now on.
    func release() { end.finish() }

    func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct] { [] }
    func purchase(_ productID: String, for customer: CustomerID) async -> PurchaseResult {
        .userCancelled
    }
    var transactions: AsyncStream<TransactionUpdate> { AsyncStream { $0.finish() } }
    func currentEntitlements() async -> [StoreTransaction] {
        for await _ in silence { break }
        return held
    }
    func finish(_ transaction: StoreTransaction) async {}
}
