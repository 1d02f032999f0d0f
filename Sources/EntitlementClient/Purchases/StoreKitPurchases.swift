#if canImport(StoreKit) && !os(visionOS)
public import Entitlements
import Foundation
public import LedgerAPI
import StoreKit

/// The App Store by StoreKit 2 (row ES1): what it signed goes to the server unread.
public struct StoreKitPurchases: PurchaseServicing {
    /// Uses the store of the device's account.
    public init() {}

    /// What the App Store has on sale.
    public func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct] {
        do {
            return try await Product.products(for: ids).map {
                SoldProduct(id: $0.id, name: $0.displayName, price: $0.displayPrice)
            }
        } catch {
            throw Self.serviceError(error)
        }
    }

    /// Opens the App Store's sheet; a customer whose id is a UUID in lower case is its `appAccountToken`.
    public func purchase(
        _ productID: String,
        for customer: CustomerID
    ) async -> PurchaseResult {
        do {
            guard let product = try await Product.products(for: [productID]).first else {
                return .failed(ServiceError(.productUnavailable))
            }
            var options: Set<Product.PurchaseOption> = []
            if let token = customer.appAccountToken {
                options.insert(.appAccountToken(token))
            }
            switch try await product.purchase(options: options) {
            case .success(let result):
                return Self.transaction(result).map { .success($0) }
                    ?? .failed(ServiceError(.verificationFailed, platform: Self.platform))
            case .userCancelled: return .userCancelled
            case .pending: return .pending
            @unknown default: return .failed(ServiceError(.unknown, platform: Self.platform))
            }
        } catch StoreKitError.userCancelled {
            return .userCancelled
        } catch {
            return .failed(Self.serviceError(error))
        }
    }

    /// What was never finished, and what the App Store tells.
    public var transactions: AsyncStream<TransactionUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransactionUpdate.self)
        let updates = Task {
            for await result in Transaction.updates { continuation.yield(Self.update(result)) }
        }
        let unfinished = Task {
            for await result in Transaction.unfinished { continuation.yield(Self.update(result)) }
        }
        continuation.onTermination = { _ in
            updates.cancel()
            unfinished.cancel()
        }
        return stream
    }

    /// What the App Store says that its account holds.
    public func currentEntitlements() async -> [StoreTransaction] {
        // In a task of its own, which nobody calls off: a sequence that is called off ends early, and what it has
        // not told yet would seem not to be held.
        let asked = Task {
            var held: [StoreTransaction] = []
            for await result in Transaction.currentEntitlements {
                if let transaction = Self.transaction(result) { held.append(transaction) }
            }
            return held
        }
        return await asked.value
    }

    /// Finishes a transaction; one that is finished already is none of the unfinished.
    public func finish(_ transaction: StoreTransaction) async {
        for await result in Transaction.unfinished {
            guard case .verified(let unfinished) = result,
                String(unfinished.id) == transaction.id
            else { continue }
            await unfinished.finish()
            return
        }
    }

    private static let platform = "app_store"

    private static func update(
        _ result: VerificationResult<Transaction>
    ) -> TransactionUpdate {
        transaction(result).map { .verified($0) } ?? .unverified
    }

    /// What StoreKit verified; nil: it could not.
    private static func transaction(
        _ result: VerificationResult<Transaction>
    ) -> StoreTransaction? {
        guard case .verified(let transaction) = result else { return nil }
        return StoreTransaction(
            id: String(transaction.id),
            originalID: String(transaction.originalID),
            productID: transaction.productID,
            // What was refunded ended then: it goes to the server, and opens nothing meanwhile.
            expiresAt: (transaction.revocationDate ?? transaction.expirationDate)
                .flatMap(instant),
            signed: result.jwsRepresentation,
            account: transaction.appAccountToken
                .flatMap { CustomerID(appAccountToken: $0.uuidString) },
            nonRenewingSince: transaction.productType == .nonRenewable
                ? instant(transaction.purchaseDate) : nil
        )
    }

    private static func instant(_ date: Date) -> Instant? {
        Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
            .map { Instant(milliseconds: $0) }
    }

    private static func serviceError(_ error: any Error) -> ServiceError {
        let native = error as NSError
        let code: ServiceError.Code =
            switch error as? StoreKitError {
            case .networkError?: .networkError
            case .notAvailableInStorefront?: .productUnavailable
            case .userCancelled?: .purchaseCancelled
            default: .storeProblem
            }
        return ServiceError(
            code,
            platform: platform,
            nativeCode: "\(native.domain)/\(native.code)"
        )
    }
}
#endif
