// What EntitlementClient uses of StoreKit 2, as Apple documents it (developer.apple.com/documentation/storekit): only
// its shape, so that the part for Apple's systems is held against types where there is no StoreKit. Nothing runs here.
public import Foundation

public enum VerificationResult<SignedType: Sendable>: Sendable {
    case unverified(SignedType, VerificationError)
    case verified(SignedType)

    public enum VerificationError: Error { case invalidSignature }
    public var jwsRepresentation: String { "" }
}

public struct Transaction: Sendable {
    public let id: UInt64
    public let originalID: UInt64
    public let productID: String
    public let productType: Product.ProductType
    public let purchaseDate: Date
    public let expirationDate: Date?
    public let revocationDate: Date?
    public let appAccountToken: UUID?
    public func finish() async {}

    public static var updates: Transactions { Transactions() }
    public static var unfinished: Transactions { Transactions() }
    public static var currentEntitlements: Transactions { Transactions() }

    public struct Transactions: AsyncSequence, Sendable {
        public typealias Element = VerificationResult<Transaction>
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async -> VerificationResult<Transaction>? { nil }
        }
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }
}

public enum StoreKitError: Error {
    case unknown, userCancelled, notAvailableInStorefront, notEntitled
    case networkError(any Error)
    case systemError(any Error)
}

public struct Product: Sendable {
    public let id: String
    public let displayName: String
    public let displayPrice: String

    public struct ProductType: Hashable, Sendable {
        public static let nonRenewable = ProductType()
    }

    public static func products<Identifiers: Collection>(
        for identifiers: Identifiers
    ) async throws -> [Product] where Identifiers.Element == String { [] }

    @MainActor
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        .pending
    }

    public struct PurchaseOption: Hashable, Sendable {
        public static func appAccountToken(_ token: UUID) -> PurchaseOption { PurchaseOption() }
    }

    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }
}
