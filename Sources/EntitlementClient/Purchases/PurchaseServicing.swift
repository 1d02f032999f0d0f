public import Entitlements
public import LedgerAPI

/// The store of the device, as the client uses it (row ES1).
///
/// What the store signed goes to the server unread; what its own library could not verify grants
/// nothing.
public protocol PurchaseServicing: Sendable {
    /// What is on sale, of some ids; what the store does not know is left out.
    ///
    /// - Throws: `ServiceError`.
    func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct]

    /// Lets somebody buy, and returns when the store's own sheet is closed.
    ///
    /// `customer`: whose purchase it is; a store that takes a token for it takes this.
    func purchase(_ productID: String, for customer: CustomerID) async -> PurchaseResult

    /// What the store tells from now on by itself: renewals, purchases on other devices, what was
    /// allowed later, and what was never finished.
    var transactions: AsyncStream<TransactionUpdate> { get }

    /// What the store says that its account holds now, verified anew.
    ///
    /// - Throws: `ServiceError` where the store does not say it: that is not the same as nothing.
    func currentEntitlements() async throws(ServiceError) -> [StoreTransaction]

    /// Tells the store that a transaction was recorded: it is told no more (row ES5).
    func finish(_ transaction: StoreTransaction) async
}

/// What came of a purchase: a closed set (rows ES2, B9).
public enum PurchaseResult: Sendable, Hashable {
    /// Bought, and verified by the store's own library.
    case success(StoreTransaction)
    /// The customer closed the sheet.
    case userCancelled
    /// Somebody else has to agree, or the bank: it may come later by itself.
    case pending
    /// It did not work; what was not verified is `VERIFICATION_FAILED`, and grants nothing.
    case failed(ServiceError)
}

/// What a store tells by itself.
public enum TransactionUpdate: Sendable, Hashable {
    /// A transaction that the store's own library verified.
    case verified(StoreTransaction)
    /// One that it could not verify: it grants nothing, and is told to the app (row ES2).
    case unverified
}

/// What a store has on sale.
public struct SoldProduct: Sendable, Hashable {
    /// The store's id.
    public let id: String
    /// What it is called, in the store's language.
    public let name: String
    /// What it costs, as it is shown.
    public let price: String
    /// When the store said so, where it does not say it now: it may cost something else by then (row 1.4); nil:
    /// it was said just now.
    public internal(set) var asOf: Instant?

    /// Names a product.
    public init(id: String, name: String, price: String) {
        self.id = id
        self.name = name
        self.price = price
    }
}
