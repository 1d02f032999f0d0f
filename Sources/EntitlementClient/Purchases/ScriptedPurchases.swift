import Encodings
public import Entitlements
public import LedgerAPI
import Synchronization

/// A store that does what a test or a preview says: it sells what it is given, in this process alone
/// (row ES1).
public final class ScriptedPurchases: PurchaseServicing {
    private struct State: Sendable {
        /// What was bought, verified or not, until it is finished.
        var unfinished: [StoreTransaction] = []
        var held: [StoreTransaction] = []
        var finished: [StoreTransaction] = []
    }

    private let products: [SoldProduct]
    private let sell: @Sendable (String, CustomerID) async -> PurchaseResult
    private let state = Mutex(State())
    private let updates = Broadcast<TransactionUpdate>(.unbounded)

    /// Makes a store.
    ///
    /// `sell`: what becomes of a purchase.
    public init(
        _ products: [SoldProduct],
        sell: @escaping @Sendable (_ productID: String, CustomerID) async -> PurchaseResult
    ) {
        self.products = products
        self.sell = sell
    }

    /// What was finished, each as often as it was.
    public var finished: [StoreTransaction] { state.withLock { $0.finished } }

    /// Tells a transaction as a store does by itself.
    public func tell(_ update: TransactionUpdate) {
        if case .verified(let transaction) = update { note(transaction) }
        updates.send(update)
    }

    /// The products among those that it was given.
    public func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct] {
        products.filter { ids.holds($0.id) }
    }

    /// What `sell` gives.
    public func purchase(_ productID: String, for customer: CustomerID) async -> PurchaseResult {
        guard products.contains(where: { $0.id.isSame(as: productID) }) else {
            return .failed(ServiceError(.productUnavailable))
        }
        let result = await sell(productID, customer)
        if case .success(let transaction) = result { note(transaction) }
        return result
    }

    /// What is not finished, then what is told.
    public var transactions: AsyncStream<TransactionUpdate> {
        let stream = updates.stream()
        for transaction in state.withLock({ $0.unfinished }) {
            updates.send(.verified(transaction))
        }
        return stream
    }

    /// What was bought or told, and not taken back.
    public func currentEntitlements() async -> [StoreTransaction] { state.withLock { $0.held } }

    /// Notes that a transaction is finished.
    public func finish(_ transaction: StoreTransaction) async {
        state.withLock { state in
            state.unfinished.removeAll { $0.id.isSame(as: transaction.id) }
            state.finished.append(transaction)
        }
    }

    private func note(_ transaction: StoreTransaction) {
        state.withLock { state in
            if !state.held.contains(transaction) { state.held.append(transaction) }
            if !state.unfinished.contains(transaction) { state.unfinished.append(transaction) }
        }
    }
}
