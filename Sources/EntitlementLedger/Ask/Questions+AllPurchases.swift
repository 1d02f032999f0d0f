package import Entitlements
import EventLog

extension Questions {
    /// The streams of the purchases of which a store has told, also of those that only wait, by their
    /// numbers, ascending.
    ///
    /// Cost: one pass over the log's headers, and 8 bytes a purchase.
    package func purchaseStreams(in environment: StoreEnvironment) throws -> [UInt64] {
        var streams: Set<UInt64> = []
        try log.scan(from: 0, upTo: log.end().size) { header, _ in
            if header.environment == environment.rawValue, try header.eventKind().isOfPurchase {
                streams.insert(header.stream)
            }
            return true
        }
        return streams.sorted()
    }

    /// The name behind a stream's number; nil: it is erased, or no purchase's.
    package func purchaseName(ofStream stream: UInt64) throws -> PurchaseName? {
        guard let subject = try vault.name(of: stream)?.subject,
            case .purchase(let purchase)? = Subject(subject)
        else { return nil }
        return purchase
    }
}
