import Encodings
public import Entitlements
import Foundation
public import LedgerAPI

/// The App Store of the store simulator, over HTTP (row ES1).
///
/// For tests, previews and systems without StoreKit:
/// `entitle demo` and `entitle simulate serve` have one.
///
/// The simulator signs; this signs nothing itself, and no ledger trusts what the simulator signs
/// unless it was told to.
public struct SimulatedPurchases: PurchaseServicing {
    private let url: String
    private let transport: ClientTransport
    private let interval: Duration
    private let sheet: @Sendable (_ productID: String) async -> SheetAnswer

    /// What somebody does before the store's sheet.
    public enum SheetAnswer: String, Sendable, CaseIterable {
        /// Pays.
        case buy
        /// Closes it.
        case cancel
        /// Asks somebody else, who has to agree.
        case ask
        /// Pays, and the store does not go along.
        case fail
    }

    /// Uses a simulator.
    ///
    /// `url`: where it is, such as `http://127.0.0.1:8460`; `account`: whose device this is, of the
    /// store's accounts: letters and digits; `interval`: how often the store is asked what it has to
    /// tell; `sheet`: what somebody does before the sheet.
    public init(
        url: String,
        account: String,
        transport: @escaping ClientTransport = URLSessionTransport().transport,
        interval: Duration = .seconds(2),
        sheet: @escaping @Sendable (_ productID: String) async -> SheetAnswer = { _ in .buy }
    ) {
        self.url = url + "/device/"
        path = "accounts/\(account.pathSegment)/"
        self.transport = transport
        self.interval = interval
        self.sheet = sheet
    }

    /// Below it is what the account has.
    private let path: String

    /// The products among those that the simulator sells.
    public func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct] {
        guard let sold = await ask(.get, "products")?["products"]?.array else {
            throw ServiceError(.networkError)
        }
        return sold.compactMap { SoldProduct(json: $0) }.filter { ids.holds($0.id) }
    }

    /// Asks the sheet, then the simulator; a customer whose id is a UUID in lower case is its
    /// `appAccountToken`.
    public func purchase(_ productID: String, for customer: CustomerID) async -> PurchaseResult {
        let token = customer.appAccountToken?.uuidString.lowercased()
        let answer = await ask(
            .post,
            path + "purchases",
            .members([
                "productId": .string(productID), "appAccountToken": .optional(token),
                "answer": .string(await sheet(productID).rawValue),
            ])
        )
        switch answer?["result"]?.string {
        case "success"?:
            let transaction = answer?["transaction"].flatMap { StoreTransaction(json: $0) }
            return transaction.map { .success($0) } ?? .failed(ServiceError(.verificationFailed))
        case "user_cancelled"?: return .userCancelled
        case "pending"?: return .pending
        case "failed"?:
            let code = answer?["code"]?.string.flatMap(ServiceError.Code.init(rawValue:))
            return .failed(ServiceError(code ?? .unknown))
        default: return .failed(ServiceError(.networkError))
        }
    }

    /// What was never finished, each once, asked for anew as time passes.
    public var transactions: AsyncStream<TransactionUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransactionUpdate.self)
        let task = Task {
            var told = Set<Name>()
            while !Task.isCancelled {
                for transaction in await list("unfinished") ?? []
                where told.insert(Name(transaction.id)).inserted {
                    continuation.yield(.verified(transaction))
                }
                // Whoever listens no more waits for nothing.
                try? await Task.sleep(for: interval)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// What the account owns.
    ///
    /// - Throws: `ServiceError`: `NETWORK_ERROR` where the simulator is not reached.
    public func currentEntitlements() async throws(ServiceError) -> [StoreTransaction] {
        guard let held = await list("held") else { throw ServiceError(.networkError) }
        return held
    }

    /// Finishes a transaction; one that is not reached is told again.
    public func finish(_ transaction: StoreTransaction) async {
        let body = JSONValue.members(["transactionId": .string(transaction.id)])
        _ = await ask(.post, path + "finish", body)
    }

    /// Nil: the simulator is not reached.
    private func list(_ name: String) async -> [StoreTransaction]? {
        await ask(.get, path + "transactions")?[name]?.array?
            .compactMap { StoreTransaction(json: $0) }
    }

    /// What the simulator answers; nil: it is not reached, or did not go along.
    private func ask(
        _ method: ClientRequest.Method,
        _ path: String,
        _ body: JSONValue? = nil
    ) async -> JSONValue? {
        let bytes = body.map { Array($0.description.utf8) }
        guard let response = await transport(ClientRequest(method, url + path, body: bytes)),
            response.status == 200
        else { return nil }
        // What is no JSON is no answer.
        return try? JSONValue(parsing: response.body)
    }
}
